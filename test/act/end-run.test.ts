import fc from 'fast-check'
import { expect, test } from 'vitest'
import { endRun } from '../../src/act/index.ts'
import { exitFromShell, type Intent, isLive, policy } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { simulated } from '../sim/simulated.ts'

const intent: Intent = { end: 'stopped', by: 'me', reason: 'asked' }
const ask = { intent, graceMs: 10_000 }
const finish = { intent: null, graceMs: 10_000 }

/** A run whose agent is on record as pid 300; whether it lives is for the test to say. */
async function withAgent() {
  const world = await simulated()
  const run = await world.launch('s')
  world.harnesses.set(run.id, { pid: 300, ticks: 3000 })
  return { world, run }
}

verifies('evidence', 'a keeper that is slow to write is waited for: its word is kept', async () => {
  const { world, run } = await withAgent()
  world.add({ pid: 200, ticks: 2000 })
  world.after(5_000, () => {
    world.exits.set(run.id, { exit: exitFromShell(4), told: null, at: 1 })
    world.remove(200)
  })
  expect(await endRun(run, world, finish)).toMatchObject({ kind: 'ended', run: { state: 'failed', exit: { code: 4, signal: null } } })
  expect(world.sent.filter(({ signal }) => signal !== 'SIGCONT')).toEqual([])
  world.close()
})

verifies('evidence', 'one that never writes is ended first, and only then the end is lost', async () => {
  const { world, run } = await withAgent()
  world.add({ pid: 200, ticks: 2000 }, true)
  expect(await endRun(run, world, finish)).toMatchObject({ kind: 'ended', run: { state: 'lost', exit: null } })
  expect(world.clock.elapsed()).toBeGreaterThanOrEqual(policy.settleMs)
  expect(world.sent.at(-1)).toEqual({ pid: 200, signal: 'SIGKILL' })
  world.close()
})

verifies('stop-proof', 'a deaf member is killed after its grace, a quick tree costs none of it', async () => {
  for (const deaf of [false, true]) {
    const world = await simulated()
    const run = await world.launch('s')
    world.harnesses.set(run.id, { pid: 300, ticks: 3000 })
    world.add({ pid: 300, ticks: 3000, marker: run.marker }, deaf)
    expect(await endRun(run, world, ask)).toMatchObject({ kind: 'ended', run: { state: 'stopped', reason: 'asked' } })
    expect(world.clock.elapsed() >= 10_000).toBe(deaf)
    expect(world.sent.some(({ signal }) => signal === 'SIGKILL')).toBe(deaf)
    world.close()
  }
})

verifies('stop-proof', 'what cannot be ended is named, stays stopping, and is never called over', async () => {
  const { world, run } = await withAgent()
  world.add({ pid: 300, ticks: 3000, marker: run.marker, uid: 7 })
  const denying = { ...world, processes: { ...world.processes, send: () => 'denied' as const } }
  expect(await endRun(run, denying, ask)).toMatchObject({
    kind: 'survivors',
    survivors: [{ pid: 300, why: expect.stringContaining('another user') as string }],
  })
  expect(world.clock.elapsed()).toBeLessThan(1_000)
  expect(await world.store.runs.get(run.id)).toMatchObject({ state: 'stopping', survivors: [{ pid: 300 }] })
  world.close()
})

verifies('evidence', 'a takeover that left survivors supersedes nobody, until a later one ends them and takes its place', async () => {
  const takeover: Intent = { end: 'superseded', by: 'ann@box (pid 7)', reason: 'taken over by ann@box (pid 7)' }
  const again: Intent = { end: 'superseded', by: 'bob@box (pid 8)', reason: 'taken over by bob@box (pid 8)' }
  for (const [who, how, expected] of [
    [
      'a reconcile',
      finish,
      { state: 'stopped', by: takeover.by, reason: expect.stringMatching(/^taken over by ann.*nothing took its place$/) as string },
    ],
    ['a person', ask, { state: 'stopped', by: takeover.by }],
    ['another takeover', { intent: again, graceMs: 10 }, { state: 'superseded', by: again.by, reason: again.reason }],
  ] as const) {
    const { world, run } = await withAgent()
    world.add({ pid: 300, ticks: 3000, marker: run.marker, uid: 7 })
    const denying = { ...world, processes: { ...world.processes, send: () => 'denied' as const } }
    expect(await endRun(run, denying, { intent: takeover, graceMs: 10 })).toMatchObject({ kind: 'survivors' })
    world.remove(300)
    const left = await world.store.runs.get(run.id)
    if (left === null || !isLive(left)) throw new Error('it lives no more')
    expect(await endRun(left, world, how), who).toMatchObject({ kind: 'ended', run: expected })
    world.close()
  }
})

verifies('stop-proof', 'what an agent starts to clean up is left to it, and is told only when it is left alone', async () => {
  const { world, run } = await withAgent()
  world.add({ pid: 300, ticks: 3000, marker: run.marker }, true)
  world.add({ pid: 400, ticks: 4000, parent: 300, marker: run.marker })
  const born = (pid: number, parent: number): void => void world.add({ pid, ticks: world.processes.ticks(), parent, marker: run.marker })
  world.after(500, () => {
    born(500, 300)
    born(501, 1)
  })
  world.after(3_000, () => world.remove(500))
  world.after(3_500, () => born(502, 300))
  world.after(4_000, () => world.remove(300))
  expect(await endRun(run, world, ask)).toMatchObject({ kind: 'ended', run: { state: 'stopped' } })
  const told = world.sent.filter(({ signal }) => signal === 'SIGTERM').map(({ pid }) => pid)
  expect(told).toEqual([300, 400, 501, 502])
  expect(world.sent.some(({ signal }) => signal === 'SIGKILL')).toBe(false)
  world.close()
})

verifies('stop-proof', 'who has heard a signal is not told again, nor what it started since', async () => {
  const { world, run } = await withAgent()
  world.add({ pid: 300, ticks: 3000, marker: run.marker }, true)
  world.add({ pid: 400, ticks: 4000, parent: 300, marker: run.marker })
  world.add({ pid: 500, ticks: 5000, parent: 300, marker: run.marker })
  world.after(2_000, () => world.remove(500))
  world.after(2_500, () => world.remove(300))
  await endRun(run, world, { ...ask, told: { heard: ({ pid }) => pid === 300, since: 5_000, wasTerm: true } })
  expect(world.sent.filter(({ signal }) => signal !== 'SIGCONT')).toEqual([{ pid: 400, signal: 'SIGTERM' }])
  world.close()
})

verifies('stop-proof', 'who heard only a hang-up has half of its grace for it, then hears TERM', async () => {
  const { world, run } = await withAgent()
  world.add({ pid: 300, ticks: 3000, marker: run.marker })
  await endRun(run, world, { ...ask, told: { heard: () => true, since: 5_000, wasTerm: false } })
  expect(world.sent.filter(({ signal }) => signal !== 'SIGCONT')).toEqual([{ pid: 300, signal: 'SIGTERM' }])
  expect(world.clock.elapsed()).toBeGreaterThanOrEqual(5_000)
  expect(world.clock.elapsed()).toBeLessThan(7_000)
  world.close()
})

verifies('evidence', 'an agent that ended by itself keeps its end, whoever ends what it left', async () => {
  const { world, run } = await withAgent()
  world.add({ pid: 400, ticks: 4000, marker: run.marker })
  world.exits.set(run.id, { exit: exitFromShell(7), told: null, at: 1 })
  expect(await endRun(run, world, ask)).toMatchObject({ kind: 'ended', run: { state: 'failed', exit: { code: 7, signal: null }, by: 'keeper' } })
  expect(world.fences.intent(run.id)).toBeNull()
  world.close()
})

verifies('gate', 'a run whose launcher is frozen before the gate can be ended, and its keeper never gets on record', async () => {
  const world = await simulated()
  const run = await world.launch('s', { keeper: null })
  world.add({ ...run.launcher, state: 'T' })
  world.add({ pid: 250, ticks: 2500, marker: run.marker })
  expect(await endRun(run, world, ask)).toMatchObject({ kind: 'ended', run: { state: 'stopped', exit: null } })
  expect(world.clock.elapsed()).toBeLessThan(1_000)
  expect(await world.store.claims.recordRunning(run, { pid: 250, ticks: 2500 }, 1)).toBe(false)
  world.close()
})

verifies('unknown', 'what cannot be judged is neither signalled, announced nor recorded', async () => {
  const world = await simulated()
  const run = await world.launch('s', { place: { ...world.processes.here(), pidNamespace: 'elsewhere' } })
  world.add({ pid: 200, ticks: 2000 })
  expect(await endRun(run, world, ask)).toMatchObject({ kind: 'unknown' })
  expect(world.sent).toEqual([])
  expect(world.fences.intent(run.id)).toBeNull()
  expect((await world.store.runs.get(run.id))?.state).toBe('running')
  world.close()
})

test('doing it twice changes nothing more', async () => {
  const world = await simulated()
  const run = await world.launch('s')
  world.exits.set(run.id, { exit: exitFromShell(0), told: null, at: 1 })
  const first = await endRun(run, world, ask)
  const again = await endRun(run, world, ask)
  expect(first.run).toEqual(again.run)
  expect(first.run).toMatchObject({ state: 'completed' })
  expect((await world.store.events.list({ session: 's', after: 0, limit: 10 })).filter(({ kind }) => kind === 'ended')).toHaveLength(1)
  world.close()
})

verifies('innocent', 'in any world, only members and the keeper are ever signalled, and an end means that no member is left', async () => {
  const process = fc.record({
    mine: fc.boolean(),
    deaf: fc.boolean(),
    cookie: fc.boolean(),
    parent: fc.constantFrom(1, 300, 400, 401),
    frozen: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(process, { maxLength: 8 }), fc.boolean(), fc.boolean(), async (others, harnessLives, keeperLives) => {
      const world = await simulated()
      try {
        const run = await world.launch('s')
        world.harnesses.set(run.id, { pid: 300, ticks: 3000 })
        if (keeperLives) world.add({ pid: 200, ticks: 2000 })
        if (harnessLives) world.add({ pid: 300, ticks: 3000, parent: 200, marker: run.marker })
        for (const [index, { mine, deaf, cookie, parent, frozen }] of others.entries())
          world.add(
            {
              pid: 400 + index,
              ticks: 4000 + index,
              parent,
              marker: mine ? run.marker : null,
              cookie: cookie ? run.cookie : null,
              state: frozen ? 'T' : 'S',
            },
            deaf,
          )
        const members = new Set<number>([300, ...others.flatMap(({ mine }, index) => (mine ? [400 + index] : []))])
        for (let grew = true; grew; ) {
          grew = false
          for (const [index, { parent }] of others.entries()) {
            const inherits = members.has(parent) && (parent !== 300 || harnessLives) && parent < 400 + index
            if (inherits && !members.has(400 + index)) grew = members.add(400 + index) !== undefined
          }
        }
        if (keeperLives) world.after(20, () => world.exits.set(run.id, { exit: exitFromShell(143), told: null, at: 1 }))
        const end = await endRun(run, world, ask)
        for (const { pid } of world.sent) expect(pid === 200 || members.has(pid), `pid ${pid}`).toBe(true)
        expect(end.kind).toBe('ended')
        expect(isLive(end.run)).toBe(false)
        for (const pid of members) expect(world.processes.sample(pid)).toEqual({ kind: 'absent' })
      } finally {
        world.close()
      }
    }),
    { numRuns: 150 },
  )
})
