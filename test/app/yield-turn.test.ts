import { expect } from 'vitest'
import { breather } from '../../src/app/world/yield-turn.ts'
import { policy } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

verifies('visible', 'long work that waits for nobody lets others have their turn, but not more often than it must', async () => {
  let now = 0
  let turns = 0
  const breathe = breather({ elapsed: () => now, sleep: async () => void turns++ })
  for (; now < policy.breathMs * 6; now++) await breathe()
  expect(turns).toBe(5)
  // With the real clock: a timer comes while the work goes on.
  let isOver = false
  setTimeout(() => (isOver = true), 1)
  const real = breather()
  while (!isOver) await real()
})
