import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nothingSeen, openWorld, type World, watchActivities } from '../../src/app/index.ts'
import { policy } from '../../src/model/index.ts'
import { aClaim, aRun, keeper } from '../record/examples.ts'

const START = 1_800_000_000_000
let home: string
let real: World
/** Since START. */
let elapsed = 0
let outputAt = 0
let writers = 0
let world: World

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'hf-activity-'))
  real = openWorld({ assets: 'dist', home })
  ;[elapsed, outputAt, writers] = [0, 0, 0]
  world = {
    ...real,
    clock: { ...real.clock, now: () => START + elapsed, elapsed: () => elapsed },
    files: { ...real.files, outputAt: () => START + outputAt },
    store: (as) => {
      if (as === 'writer') writers++
      return real.store(as)
    },
  }
  const store = await real.store('writer')
  const run = aRun('s', 1, { tmux: null })
  expect((await store.claim(aClaim(run, { harness: 'claude' }))).kind).toBe('won')
  expect(await store.recordRunning(run, keeper, 1)).toBe(true)
})
afterEach(() => {
  real.close()
  rmSync(home, { recursive: true })
})

/** Rounds at the daemon's pace, until then. */
async function look(seen: ReturnType<typeof nothingSeen>, untilMs: number): Promise<void> {
  for (; elapsed <= untilMs; elapsed += policy.activityPaceMs) await watchActivities(world, seen)
}
const recorded = async (): Promise<unknown[]> =>
  (await (await real.store('reader')).events({ session: 's', after: 0, limit: 99 }))
    .filter(({ kind }) => kind === 'activity')
    .map(({ detail }) => [detail['state'], detail['since']])

test('an agent that painted for a second and sits is on record as idle, and the store is opened for writing no more often than a guess may be told', async () => {
  const seen = nothingSeen()
  outputAt = -1_000
  await look(seen, policy.activityEventMs - policy.activityPaceMs)
  expect([await recorded(), writers]).toEqual([[['busy', START]], 1])
  await look(seen, policy.activityEventMs + policy.activityPaceMs)
  const both = [
    ['busy', START],
    ['idle', START - 1_000],
  ]
  expect([await recorded(), writers]).toEqual([both, 2])
  await look(seen, 3 * policy.activityEventMs)
  expect([await recorded(), writers]).toEqual([both, 2])
})

test('the next daemon asks whether it is on record, and not in every round', async () => {
  await look(nothingSeen(), 2 * policy.activityEventMs)
  const before = await recorded()
  writers = 0
  await look(nothingSeen(), elapsed + policy.activityEventMs - policy.activityPaceMs)
  expect([await recorded(), writers]).toEqual([before, 1])
})
