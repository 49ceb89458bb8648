import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { lookAt } from '../../src/act/index.ts'
import { housekeep } from '../../src/app/maintenance/retention.ts'
import { resolveUnreadable, unreadableRefusal, unreadableRuns } from '../../src/app/recover/unreadable-runs.ts'
import { brokenInvariants, verdict } from '../../src/decide/index.ts'
import { isLive, policy } from '../../src/model/index.ts'
import { aClaim, aRun } from '../record/examples.ts'
import { verifies } from '../requirements.ts'
import { type Backups, backups, type Truth } from '../sim/backups.ts'

const step = fc.record({
  what: fc.constantFrom('start', 'start', 'start', 'end', 'end', 'crash', 'rebind', 'go-on', 'forget', 'back-up', 'back-up', 'verb', 'put-back'),
  which: fc.nat({ max: 4 }),
  native: fc.boolean(),
  stage: fc.constantFrom(
    'all' as const,
    'all' as const,
    'all' as const,
    'claim' as const,
    'directory' as const,
    'keeper' as const,
    'copied' as const,
    'copied' as const,
  ),
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

verifies('self', 'a session that an older store calls live under an id of before is found by that id where it went', async () => {
  const lab = await backups()
  await lab.start(0, false, 'all')
  const [truth] = lab.truths as [Truth]
  lab.backUp()
  await lab.end(truth, true)
  await lab.forget()
  await lab.start(0, false, 'all')
  await lab.rebind(truth)
  await lab.putBack(0)
  await check(lab)
  lab.close()
})

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

verifies('bounded', 'of many starts at once none writes down for another what that one has just written itself', async () => {
  const lab = await backups()
  await lab.start(0, false, 'copied')
  await lab.putBack(0)
  const store = lab.store()
  const written: string[] = []
  const recordRunning: typeof store.claims.recordRunning = async (run, ...more) => {
    written.push(run.id)
    return store.claims.recordRunning(run, ...more)
  }
  const [run] = await store.runs.unkept()
  if (run === undefined) return expect.unreachable('its keeper is not on record')
  const overtaken = {
    ...store,
    claims: { ...store.claims, recordRunning },
    runs: {
      ...store.runs,
      async unkept() {
        const before = await store.runs.unkept()
        await store.claims.recordRunning(run, lab.world.evidence.keeper(run.id) ?? expect.unreachable('it has a keeper'), 1)
        return before
      },
    },
  }
  await lab.recover(overtaken)
  expect([written, (await store.runs.get(run.id))?.state]).toEqual([[], 'running'])
  lab.close()
})

verifies('epoch', 'a live run of another place, over which a later epoch was claimed, is over: the later run proves it', async () => {
  const lab = await backups()
  const elsewhere = aRun('s', 1, { place: { install: 'x', machine: 'elsewhere', boot: 'another', pidNamespace: 'p', timeNamespace: 't' } })
  await lab.store().claims.claim(aClaim(elsewhere, { keeper: { pid: 5, ticks: 5 } }))
  const later = aRun('s', 4, { dir: '/d/later', tmux: null })
  const agent = lab.world.add({ pid: 900, marker: later.marker })
  lab.world.runRecords.create({ ...later, keeper: lab.world.add({ pid: 899 }) })
  lab.world.harnesses.set(later.id, agent)
  await lab.recover()
  expect(await lab.store().runs.get(elsewhere.id)).toMatchObject({
    state: 'lost',
    evidence: [expect.stringContaining('epoch 4'), expect.stringContaining('unproven')],
  })
  expect((await lab.store().runs.live(9)).views).toMatchObject([{ session: { epoch: 4 }, run: { id: later.id, state: 'running' } }])
  // The newest one is judged by what is true of it alone.
  const far = aRun('t', 1, { place: elsewhere.place, dir: '/d/t' })
  await lab.store().claims.claim(aClaim(far, { keeper: { pid: 5, ticks: 5 }, seenLock: 99 }))
  await lab.recover()
  expect(await lab.store().runs.get(far.id)).toMatchObject({ state: 'running' })
  lab.close()
})

verifies('one-owner', 'a run that is put on record again takes no conversation from one that began later', async () => {
  const lab = await backups()
  const native = { harness: 'claude', id: 'n1' }
  const [old, young] = [aRun('old', 1, { tmux: null }), aRun('young', 1)]
  await lab.store().claims.claim(aClaim(young, { keeper: { pid: 5, ticks: 5 }, harness: 'claude', native: 'n1' }))
  lab.world.runRecords.create({ ...old, keeper: null })
  lab.world.agentState.recordNative(old.id, native)
  await lab.recover()
  expect(await lab.store().runs.get(old.id)).toMatchObject({ session: 'old' })
  expect((await lab.store().conversations.owner(native))?.session.id).toBe('young')
  lab.close()
})

verifies('final', 'what is forgotten loses its directory first: nobody takes it for a run that an older store does not know', async () => {
  const lab = await backups()
  await lab.start(0, false, 'all')
  await lab.end(lab.truths[0] as Truth, true)
  const [id = ''] = lab.world.runRecords.list()
  const rows: unknown[] = []
  const world = {
    ...lab.world,
    runRecords: {
      ...lab.world.runRecords,
      remove(run: string) {
        rows.push(lab.store().runs.get(run))
        return lab.world.runRecords.remove(run)
      },
    },
  }
  await housekeep({ ...world, policy: { ...policy, retentionRuns: 0 } }, lab.store())
  expect(await Promise.all(rows)).toMatchObject([{ id, state: 'completed' }])
  expect([lab.world.runRecords.list(), await lab.store().runs.get(id)]).toEqual([[], null])
  lab.close()
})
