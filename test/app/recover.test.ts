import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { lookAt } from '../../src/act/index.ts'
import { resolveUnreadable, unreadableRefusal, unreadableRuns } from '../../src/app/recover/unreadable-runs.ts'
import { brokenInvariants, verdict } from '../../src/decide/index.ts'
import { isLive } from '../../src/model/index.ts'
import { aClaim, aRun } from '../record/examples.ts'
import { verifies } from '../requirements.ts'
import { type Backups, backups } from '../sim/backups.ts'

const step = fc.record({
  what: fc.constantFrom('start', 'start', 'start', 'end', 'end', 'crash', 'rebind', 'go-on', 'forget', 'back-up', 'back-up', 'verb', 'put-back'),
  which: fc.nat({ max: 4 }),
  native: fc.boolean(),
  stage: fc.constantFrom('all' as const, 'all' as const, 'all' as const, 'claim' as const, 'directory' as const, 'keeper' as const),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function take(lab: Backups, { what, which, native, stage }: Step): Promise<void> {
  const truth = lab.truths[which % Math.max(1, lab.truths.length)]
  // A store that was put in place is compared before anybody else uses it: that is the promise of those who open it.
  if (what === 'put-back') return (await lab.putBack(which)) ? check(lab) : undefined
  if (what === 'verb') return check(lab)
  if (what === 'back-up') return lab.backUp()
  if (what === 'start' || truth === undefined) return lab.start(which, native, stage)
  if (what === 'rebind') return lab.rebind(truth)
  if (what === 'go-on') return lab.goOn(truth)
  if (what === 'forget') return lab.forget()
  return lab.end(truth, what === 'end')
}

async function check(lab: Backups): Promise<void> {
  // Two verbs at the same time, then one more.
  const other = await lab.open()
  await Promise.all([lab.recover(), lab.recover(other)])
  other.close()
  const store = lab.store()
  const once = await store.sessions.snapshot('all', 100)
  expect(await lab.recover()).toEqual([])
  expect(await store.sessions.snapshot('all', 100)).toEqual(once)
  expect(brokenInvariants(once.views, once.locks)).toEqual([])
  for (const truth of lab.truths) {
    if (truth.live === null) continue
    const { run } = truth.live
    for (const id of [truth.id, ...truth.former]) {
      const found = await store.sessions.find(id, 'exact')
      expect(found, id).toMatchObject({
        kind: 'found',
        view: { session: { id: truth.id, epoch: truth.epoch }, run: { id: run.id, state: 'running' } },
      })
    }
    expect(once.locks.map((lock) => lock.run)).toContain(run.id)
    expect(await store.claims.claim(aClaim(aRun(truth.id, truth.epoch + 1, { dir: '/x' }), { seenLock: 1e9 }))).toMatchObject({ kind: 'lost' })
    if (truth.native !== null) expect((await store.conversations.owner(truth.native))?.session.id).toBe(truth.id)
  }
  // Nothing that is dead is in anybody's way.
  const alive = new Set(lab.truths.flatMap(({ live }) => (live === null ? [] : [live.run.id])))
  for (const { run } of (await store.runs.live(100)).views)
    if (run !== null && isLive(run) && !alive.has(run.id)) expect(verdict(run, await lookAt(run, lab.world)).kind).toBe('over')
  for (const id of lab.world.runRecords.list()) {
    const record = lab.world.runRecords.read(id)
    const found = await store.sessions.find(record?.session ?? '', 'exact')
    expect(found.kind === 'found' ? found.view.session.epoch : 0).toBeGreaterThanOrEqual(record?.epoch ?? 1)
  }
  for (const truth of lab.truths) truth.epoch = await epochOf(lab, truth.id, truth.epoch)
}

/** Of a session whose last run directory is forgotten an older store may know less: nobody is left who could act for those epochs. */
async function epochOf(lab: Backups, id: string, before: number): Promise<number> {
  const found = await lab.store().sessions.find(id, 'exact')
  return found.kind === 'found' ? found.view.session.epoch : Math.min(before, 0)
}

const played = async (steps: readonly Step[]): Promise<void> => {
  const lab = await backups()
  try {
    for (const one of steps) await take(lab, one)
    await lab.putBack(0)
    await check(lab)
  } finally {
    lab.close()
  }
}

verifies('one-owner', 'whatever happened since a store was copied: put in place again, it knows every live owner, and no epoch falls', () =>
  fc.assert(fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), played), { numRuns: Number(process.env['HF_RUNS'] ?? 60) }),
)

verifies('unknown', 'a run directory that no row knows and that cannot be read keeps starts waiting, until a person settles it', async () => {
  const lab = await backups()
  const run = 'r0123456789ab'
  const path = lab.world.runRecords.path(run)
  mkdirSync(path)
  writeFileSync(join(path, 'run.json'), '{"format":2}')
  const world = { ...lab.world, unreadable: () => unread, user: () => 'ann', host: 'box' }
  const unread = await lab.recover()
  expect(unread).toEqual([run])
  expect(unreadableRefusal(world, false)).toMatchObject({
    id: 'run-record-unreadable',
    hint: expect.stringContaining(`holdfast resolve ${run} --gone`),
  })
  expect(unreadableRefusal(world, true)).toBeNull()
  // One of its processes lives: then nobody overrides it.
  const agent = lab.world.add({ pid: 77 })
  lab.world.harnesses.set(run, agent)
  expect(unreadableRefusal(world, true)).toMatchObject({ id: 'run-record-unreadable', hint: expect.stringContaining('end pid 77') })
  expect(() => resolveUnreadable(world, run)).toThrow(/pid 77 of it is alive/)
  lab.world.remove(77)
  expect(resolveUnreadable(world, run)).toMatchObject({ run, pid: null })
  expect(lab.world.fences.isRetired(run)).toBe(true)
  expect(unreadableRuns(world)).toEqual([])
  lab.close()
})
