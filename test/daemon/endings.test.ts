import { expect, test, vi } from 'vitest'
import type { Carried, Due } from '../../src/app/index.ts'
import { openEndings } from '../../src/daemon/endings.ts'
import type { Daemon } from '../../src/daemon/index.ts'

const carriedOut = vi.hoisted(() => ({ waiting: [] as ((carried: Carried) => void)[] }))
vi.mock('../../src/app/index.ts', () => ({
  carryOut: () => new Promise<Carried>((done) => void carriedOut.waiting.push(done)),
  openWorld: () => ({ store: async () => ({}), close: () => {} }),
}))

test('what came of an ending is told although somebody has asked in the meantime', async () => {
  const done = vi.fn()
  const endings = openEndings({ assets: '', home: '' } as unknown as Daemon, done)
  expect(endings.begin({ run: { id: 'r' } } as unknown as Due)).toBe(true)
  await expect.poll(() => carriedOut.waiting.length).toBe(1)
  expect(endings.take()).toEqual([])
  carriedOut.waiting[0]?.({ change: null, stuck: '1 survivor' })
  await expect.poll(() => done.mock.calls).toEqual([['r']])
  expect(endings.take()).toMatchObject([{ due: { run: { id: 'r' } }, stuck: '1 survivor', error: null }])
  expect(endings.take()).toEqual([])
})
