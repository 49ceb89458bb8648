import { expect, test, vi } from 'vitest'
import type { PendingStep, StepResult } from '../../src/app/index.ts'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { reconcilePart } from '../../src/daemon/parts/reconcile-part.ts'

const app = vi.hoisted(() => ({ due: [] as unknown[], carried: [] as string[] }))
vi.mock('../../src/app/index.ts', async () => ({
  breather: (await vi.importActual<typeof import('../../src/app/world/yield-turn.ts')>('../../src/app/world/yield-turn.ts')).breather,
  realClock: (await vi.importActual<typeof import('../../src/app/world/clock.ts')>('../../src/app/world/clock.ts')).realClock,
  survey: async () => ({ due: app.due, sick: [] }),
  freeLocks: async () => {},
  carryOut: (_world: unknown, _store: unknown, { run }: PendingStep) => {
    app.carried.push(run.id)
    return run.id === 'parent' ? new Promise<StepResult>(() => {}) : Promise.resolve({ change: null, stuck: null })
  },
}))

const over = (id: string): unknown => ({
  run: { id, session: id, state: 'running', keeper: { pid: 1, ticks: 1 } },
  want: { kind: 'finish' },
  judged: { kind: 'over' },
  seen: { exit: null, keeper: { kind: 'gone', why: 'x', waitStatus: null }, harness: null },
})

test('one that is over, but has runs in it that must be ended first, holds up no round and no other', async () => {
  const store = { runs: { children: async (id: string) => (id === 'parent' ? [{ id: 'child' }] : []) } }
  const world = { store: async () => store, close: () => {} }
  const daemon = { open: () => world, worlds: { use: (body: (given: unknown) => unknown) => body(world) }, log: () => {}, wake: () => {} }
  const { part } = reconcilePart(daemon as unknown as Daemon)
  app.due = [over('parent'), over('single')]
  expect(await part.round()).toMatchObject({ runs: 2, endings: 1 })
  await expect.poll(() => app.carried.toSorted()).toEqual(['parent', 'single'])
})
