import { expect } from 'vitest'
import { breather } from '../../src/app/world/yield-turn.ts'
import { policy } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

verifies('visible', 'long work that waits for nobody lets others have their turn, but not more often than it must', async () => {
  let turns = 0
  const others = setInterval(() => turns++, 1)
  const breathe = breather()
  const until = performance.now() + policy.breathMs * 6
  while (performance.now() < until) await breathe()
  clearInterval(others)
  expect(turns).toBeGreaterThanOrEqual(3)
  expect(turns).toBeLessThanOrEqual(8)
})
