import { afterEach, beforeEach, expect, test } from 'vitest'
import { nothingSeen, type World, watchActivities } from '../../src/app/index.ts'
import { policy } from '../../src/model/index.ts'
import { aRunningOne, openTestHome, START, type TestHome } from '../daemon/home.ts'

let home: TestHome
let outputAt: number
let writers: number
let world: World

beforeEach(async () => {
  home = openTestHome()
  ;[outputAt, writers] = [0, 0]
  await aRunningOne(home.world, 's', 'claude')
  world = {
    ...home.world,
    runLogs: { ...home.world.runLogs, outputAt: () => START + outputAt },
    store: (as) => {
      if (as === 'writer') writers++
      return home.world.store(as)
    },
  }
})
afterEach(() => home.done())

/** Rounds at the daemon's pace, until then. */
async function look(seen: ReturnType<typeof nothingSeen>, untilMs: number): Promise<void> {
  for (; home.elapsed <= untilMs; home.elapsed += policy.activityPaceMs) await watchActivities(world, seen)
}
const recorded = async (): Promise<unknown[]> =>
  (await (await world.store('reader')).events.list({ session: 's', after: 0, limit: 99 }))
    .filter(({ kind }) => kind === 'activity')
    .map(({ detail }) => [detail['state'], detail['since']])

test('an agent that painted for a second and sits is on record as idle, and the store is opened for writing no more often than a guess may be told', async () => {
  const seen = nothingSeen()
  outputAt = -1_000
  await look(seen, policy.quietMs - 2_000)
  expect([await recorded(), writers]).toEqual([[['busy', START]], 1])
  await look(seen, policy.quietMs + policy.activityPaceMs)
  const both = [
    ['busy', START],
    ['idle', START - 1_000],
  ]
  expect([await recorded(), writers]).toEqual([both, 2])
  const idleAt = home.elapsed
  // That it is busy again is told only after a while, however often it says a word.
  for (outputAt = home.elapsed; home.elapsed < idleAt + policy.activityEventMs - 2 * policy.activityPaceMs; outputAt = home.elapsed)
    await look(seen, home.elapsed)
  expect([await recorded(), writers]).toEqual([both, 2])
  for (; home.elapsed < idleAt + policy.activityEventMs + policy.activityPaceMs; outputAt = home.elapsed) await look(seen, home.elapsed)
  expect((await recorded()).map((entry) => (entry as string[])[0])).toEqual(['busy', 'idle', 'busy'])
  expect(writers).toBeLessThanOrEqual(4)
})

test('an agent that was given its prompt in a file is busy until it is over, however long it says nothing', async () => {
  world = { ...world, agentState: { ...world.agentState, hasPrompt: () => true } }
  outputAt = 0
  await look(nothingSeen(), 5 * policy.quietMs)
  expect(await recorded()).toEqual([['busy', START]])
})

test('the next daemon asks whether it is on record, and not in every round', async () => {
  await look(nothingSeen(), 2 * policy.activityEventMs)
  const before = await recorded()
  writers = 0
  await look(nothingSeen(), home.elapsed + policy.activityEventMs - policy.activityPaceMs)
  expect([await recorded(), writers]).toEqual([before, 1])
})
