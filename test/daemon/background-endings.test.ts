import { expect, test, vi } from 'vitest'
import type { PendingStep, StepResult, World } from '../../src/app/index.ts'
import { openEndings } from '../../src/daemon/parts/background-endings.ts'

const carriedOut = vi.hoisted(() => ({ waiting: [] as ((carried: StepResult) => void)[] }))
vi.mock('../../src/app/index.ts', () => ({
  carryOut: () => new Promise<StepResult>((done) => void carriedOut.waiting.push(done)),
}))
const world = { store: async () => ({}), close: () => {} } as unknown as World

test('what came of an ending is told although somebody has asked in the meantime', async () => {
  const done = vi.fn()
  const endings = openEndings({ open: () => world }, done)
  expect(endings.begin({ run: { id: 'r' } } as unknown as PendingStep)).toBe(true)
  await expect.poll(() => carriedOut.waiting.length).toBe(1)
  expect(endings.take()).toEqual([])
  carriedOut.waiting[0]?.({ change: null, stuck: '1 survivor' })
  await expect.poll(() => done.mock.calls).toEqual([['r']])
  expect(endings.take()).toMatchObject([{ due: { run: { id: 'r' } }, stuck: '1 survivor', error: null }])
  expect(endings.take()).toEqual([])
})

test('one whose world cannot even be opened is told, is over, and can be begun again', async () => {
  const done = vi.fn()
  const open = vi.fn((): World => {
    throw new Error('EMFILE')
  })
  const endings = openEndings({ open }, done)
  for (const tries of [1, 2]) {
    expect(endings.begin({ run: { id: 'r' } } as unknown as PendingStep)).toBe(true)
    await expect.poll(() => done.mock.calls.length).toBe(tries)
    expect(endings.take()).toMatchObject([{ error: { message: 'EMFILE' } }])
    expect([endings.has('r'), endings.size()]).toEqual([false, 0])
  }
})
