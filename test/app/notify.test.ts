import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { deliver, newNotifications, nothingHeard, type World } from '../../src/app/index.ts'
import { daemonFiles } from '../../src/keep/index.ts'
import type { ActivityState, LiveRun, Notified, Store } from '../../src/model/index.ts'
import { policy } from '../../src/model/index.ts'
import { aRunningOne, openTestHome, START, type TestHome } from '../daemon/home.ts'
import { anEnding } from '../record/examples.ts'

let home: TestHome
let store: Store
let heard: ReturnType<typeof nothingHeard>
beforeEach(async () => {
  home = openTestHome()
  daemonFiles(home.world.home).make()
  store = await home.world.store('writer')
  heard = nothingHeard()
  await news()
})
afterEach(() => home.done())

const news = async (): Promise<string[]> => (await newNotifications(home.world, heard)).map(({ kind, session }) => `${kind} ${session}`)

async function turns(run: LiveRun, ...states: readonly ActivityState[]): Promise<void> {
  for (const state of states) {
    const now = START + home.elapsed
    expect(await store.events.recordActivity(run, { state, since: now, how: 'hook', gapMs: 0 }, now)).toBe(true)
    home.elapsed += policy.turnMs
  }
}

test('one that ends with its answer is told of once, and not before', async () => {
  const run = await aRunningOne(home.world, 's', 'claude', { argv: ['claude', '-p', 'do it'] })
  await turns(run, 'busy', 'idle')
  expect(await news()).toEqual([])
  expect(await store.claims.recordEnded(run, anEnding(), null, START + home.elapsed)).toBe(true)
  expect(await news()).toEqual(['finished s'])
})

test('the turn of an agent inside another is that one’s business, its question is a person’s', async () => {
  const outer = await aRunningOne(home.world, 's', 'claude', { argv: ['claude'] })
  const inner = await aRunningOne(home.world, 'inner', 'claude', { argv: ['claude'], parent: outer.id })
  await turns(outer, 'busy', 'idle')
  await turns(inner, 'busy', 'idle')
  expect(await news()).toEqual(['input s'])
  await turns(inner, 'busy', 'waiting')
  expect(await news()).toEqual(['input inner'])
})

test('what has ended since waits for nothing any more', async () => {
  const run = await aRunningOne(home.world, 's', 'claude', { argv: ['claude'] })
  await turns(run, 'busy', 'waiting')
  expect(await store.claims.recordEnded(run, anEnding(), null, START + home.elapsed)).toBe(true)
  expect(await news()).toEqual(['finished s'])
})

test('what somebody has put into the file of the last one fails no round, and what happened meanwhile is told', async () => {
  const run = await aRunningOne(home.world, 's', null)
  const files = daemonFiles(home.world.home)
  const { seq } = files.notified() ?? expect.unreachable('nothing was written')
  const event = { seq, at: START, kind: 'ended', session: 'x', run: 'x', epoch: 1, detail: null }
  const later = [
    { event, kind: 'finished', count: 1 },
    { event: { ...event, detail: {} }, kind: 'other', count: 1 },
  ]
  files.writeNotified({ seq, at: START, history: { told: [], later, held: 0 } } as unknown as Notified)
  expect(await store.claims.recordEnded(run, anEnding(), null, START)).toBe(true)
  heard = nothingHeard()
  expect(await news()).toEqual(['finished s'])
})

test('a bell rings at the terminal that the agent is on, else at that of its start: the name on record may be another terminal’s by now', async () => {
  const bell = vi.fn()
  const { world } = home
  const run = await aRunningOne(world, 's', null, { detached: false, tty: '/dev/pts/3' })
  const agent = { pid: 300, ticks: 3000 }
  const on = (path: string | null, same = false): World => ({
    ...world,
    notifiers: { ...world.notifiers, bell },
    evidence: { ...world.evidence, harness: (id) => (id === run.id ? agent : null) },
    processes: {
      ...world.processes,
      terminal: (process) => (path === null || process !== agent ? null : { path, outputAt: 0 }),
      isTerminalSince: (name, at) => same && name === '/dev/pts/3' && at === run.startedAt,
    },
  })
  await turns(run, 'busy', 'waiting')
  const [notification = expect.unreachable('nothing to tell')] = await newNotifications(on('/dev/pts/9'), heard)
  await deliver(on(null), 'bell', notification)
  expect(bell).not.toHaveBeenCalled()
  await deliver(on('/dev/pts/9'), 'bell', notification)
  expect(bell.mock.calls).toEqual([['/dev/pts/9']])
  await deliver(on(null, true), 'bell', notification)
  expect(bell.mock.calls).toEqual([['/dev/pts/9'], ['/dev/pts/3']])
  await deliver(on('/dev/pts/9'), 'bell', { ...notification, kind: 'more', session: null, run: null })
  expect(bell).toHaveBeenCalledTimes(2)
})
