import { expect, test } from 'vitest'
import { censusOf, endRun, lookAt } from '../../src/act/index.ts'
import { verdict } from '../../src/decide/index.ts'
import type { Environment, Intent, LiveRun, NativeId, ProcessId, RunRecord, ServedSession } from '../../src/model/index.ts'
import { describeAsking, exitFromShell, isLive, markerFrom } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { simulated } from '../sim/simulated.ts'

const intent: Intent = { end: 'stopped', by: 'me', reason: 'asked' }
const stop = { intent, graceMs: 10_000 }
const DAEMON = 400

/**
 * Two runs with a session each in one shared daemon, which the first of them started: so all that it starts carries that one's marker and
 * environment. The second's worker is older than its run. Each session has a tool below its worker, and one that lost its parent.
 */
async function inOneDaemon() {
  const world = await simulated()
  const [one, two, nested] = [
    await world.launch('one', { until: 'tree' }),
    await world.launch('two', { until: 'tree', keeper: { pid: 201, ticks: 5000 } }),
    await world.launch('nested', { keeper: { pid: 610, ticks: 6100 }, tmux: null }),
  ]
  const { marker } = one
  const environments = new Map<number, Environment>()
  const natives = new Map<string, NativeId[]>()
  const roster = new Map<string, ServedSession>()
  const asked: string[] = []
  const add = (
    pid: number,
    ticks: number,
    over: { parent?: number; marker?: number | null; session?: string; job?: string | null; name?: string } = {},
  ): ProcessId => {
    environments.set(pid, {
      HOLDFAST_RUN: one.id,
      ...(over.session === undefined
        ? {}
        : { CLAUDE_CODE_SESSION_ID: over.session, ...(over.job === null ? {} : { CLAUDE_JOB_DIR: over.job ?? over.session }) }),
    })
    return world.add({ pid, ticks, parent: over.parent ?? 1, marker: over.marker === undefined ? marker : over.marker, name: over.name ?? 'claude' })
  }
  const serve = (id: string, ...processes: ProcessId[]): void => {
    const asking = { kind: 'command', command: ['claude', 'stop', id] } as const
    roster.set(id, { nativeId: id, dir: `/d/${id}`, since: 1, processes, active: true, stop: asking })
  }
  add(DAEMON, 4000)
  serve('a', add(410, 4100, { parent: DAEMON }), add(411, 4110, { parent: 410 }))
  serve('b', add(420, 4200, { parent: DAEMON }), add(421, 4210, { parent: 420 }))
  for (const [id, first, worker] of [
    ['a', 500, 411],
    ['b', 600, 421],
  ] as const) {
    add(first, first * 10, { parent: worker, session: id, name: 'bash' })
    add(first + 1, first * 10 + 1, { session: id, name: 'node' })
  }
  for (const [run, id] of [
    [one, 'a'],
    [two, 'b'],
  ] as const) {
    natives.set(run.id, [{ harness: 'claude', id }])
    world.exits.set(run.id, { exit: exitFromShell(0), told: null, at: 1 })
  }
  const hands = {
    ...world,
    processes: {
      ...world.processes,
      environment: (pid: number) => environments.get(pid) ?? {},
      marker: (pid: number) => {
        const seen = world.processes.sample(pid)
        return seen.kind === 'seen' ? seen.row.marker : undefined
      },
    },
    agentState: {
      ...world.agentState,
      natives: (run: string) => natives.get(run) ?? [],
      recordNative: (run: string, native: NativeId) => void natives.set(run, [...(natives.get(run) ?? []), native]),
    },
    runRecords: { ...world.runRecords, read: (run: string) => ([one, two, nested].find(({ id }) => id === run) ?? null) as RunRecord | null },
    harnessDaemons: (rows: readonly { pid: number }[]) => {
      const seen = world.processes.sample(DAEMON)
      if (seen.kind !== 'seen' || !rows.some(({ pid }) => pid === DAEMON)) return []
      return [
        {
          row: seen.row,
          what: 'D',
          harness: 'claude',
          served: [...roster.values()],
          stop: { kind: 'command', command: ['claude', 'daemon', 'stop'] } as const,
        },
      ]
    },
    harnessDaemonRules: {
      variables: new Map([['claude', 'CLAUDE_CODE_SESSION_ID']]),
      backgroundId: (_: string, environment: Environment) => environment['CLAUDE_JOB_DIR'] ?? null,
      handsOver: (): string | null => 'claude',
      worksThrough: () => null,
    },
    // As the real one: the worker goes, and what it started stays.
    ask: async (asking: Parameters<typeof describeAsking>[0]) => {
      const words = describeAsking(asking)
      asked.push(words)
      for (const [id, { processes }] of roster) {
        if (words !== `claude stop ${id}` && words !== 'claude daemon stop') continue
        for (const { pid } of processes) world.remove(pid)
        roster.delete(id)
      }
      if (words === 'claude daemon stop') world.remove(DAEMON)
    },
  }
  const isThere = (...pids: number[]): boolean[] => pids.map((pid) => world.processes.sample(pid).kind === 'seen')
  const members = async (run: LiveRun): Promise<Record<number, string>> =>
    Object.fromEntries((await censusOf(run, hands, false)).members.map(({ row, proof }) => [row.pid, proof]))
  return {
    world,
    hands,
    one,
    two,
    nested,
    add,
    serve,
    roster,
    natives,
    asked,
    isThere,
    members,
    signalled: () => new Set(world.sent.map(({ pid }) => pid)),
  }
}

verifies(
  'innocent',
  "a session in a shared daemon has its own worker and tools for members, and nobody else's, whatever marker they carry",
  async () => {
    const { world, one, two, members } = await inOneDaemon()
    expect(await members(one)).toEqual({ 410: 'marker', 411: 'marker', 500: 'marker', 501: 'marker' })
    expect(await members(two)).toEqual({ 420: 'harness-id', 421: 'harness-id', 600: 'harness-id', 601: 'harness-id' })
    world.close()
  },
)

verifies('stop-proof', 'the second is ended through the harness, its tools by us; the first, and the daemon, are not touched', async () => {
  const { world, hands, two, asked, isThere, signalled } = await inOneDaemon()
  expect(await endRun(two, hands, stop)).toMatchObject({ kind: 'ended', run: { state: 'stopped' }, spared: [] })
  expect(asked).toEqual(['claude stop b'])
  expect(isThere(420, 421, 600, 601)).toEqual([false, false, false, false])
  expect(isThere(DAEMON, 410, 411, 500, 501)).toEqual([true, true, true, true, true])
  expect(signalled()).toEqual(new Set([600, 601]))
  world.close()
})

verifies('stop-proof', 'the one that started the daemon leaves it to the other, with all that is the other’s', async () => {
  const { world, hands, one, two, asked, isThere, signalled, members } = await inOneDaemon()
  expect(await endRun(one, hands, stop)).toMatchObject({ kind: 'ended', spared: [{ row: { pid: DAEMON } }] })
  expect(asked).toEqual(['claude stop a'])
  expect(isThere(DAEMON, 420, 421, 600, 601)).toEqual([true, true, true, true, true])
  expect(signalled()).toEqual(new Set([500, 501]))
  expect(Object.keys(await members(two))).toHaveLength(4)
  // And when that is the last one, the daemon is nobody's of ours: it is left.
  await endRun(two, hands, stop)
  expect(isThere(DAEMON, 600, 601)).toEqual([true, false, false])
  world.close()
})

verifies('innocent', 'what Holdfast itself has started in such a session has a keeper of its own, and is not of it', async () => {
  const { world, two, nested, add, members } = await inOneDaemon()
  add(610, 6100, { parent: 600, marker: markerFrom(5, 'helper'), session: 'b' })
  add(615, 6150, { parent: 610, marker: nested.marker })
  add(620, 6200, { parent: 610, marker: markerFrom(5, 'helper') })
  // One that only waits or follows has taken a marker too, and never becomes a run.
  add(630, 6300, { parent: 600, marker: markerFrom(6, 'run'), session: 'b' })
  expect(Object.keys(await members(two)).map(Number)).toEqual([420, 421, 600, 601, 630])
  world.close()
})

verifies('innocent', 'what is older than the run, or of another session that no daemon has, is judged as ever', async () => {
  const { world, one, two, add, members } = await inOneDaemon()
  add(590, 4900, { session: 'b', name: 'node' })
  // An agent that the first one's has started as a plain process.
  add(700, 7000, { session: 'c', job: null, name: 'node' })
  expect(await members(two)).not.toHaveProperty('590')
  expect(await members(one)).toMatchObject({ 700: 'marker' })
  expect(await members(one)).not.toHaveProperty('590')
  world.close()
})

verifies('innocent', 'an agent that a session in the daemon has started is of that; one that owns the same id outside of it is not', async () => {
  const { world, one, two, add, members } = await inOneDaemon()
  add(710, 7100, { session: 'd', job: 'b', name: 'node' })
  add(720, 7200, { session: 'b', job: null, marker: null, name: 'node' })
  expect(await members(two)).toMatchObject({ 710: 'harness-id' })
  expect(await members(two)).not.toHaveProperty('720')
  for (const pid of ['710', '720']) expect(await members(one)).not.toHaveProperty(pid)
  world.close()
})

verifies('stop-proof', 'what a session left is found when its daemon is gone', async () => {
  const { world, hands, one, two, roster, isThere } = await inOneDaemon()
  for (const pid of [DAEMON, 410, 411, 420, 421]) world.remove(pid)
  roster.clear()
  expect(await endRun(two, hands, stop)).toMatchObject({ kind: 'ended' })
  expect(isThere(500, 501, 600, 601)).toEqual([true, true, false, false])
  expect(await endRun(one, hands, stop)).toMatchObject({ kind: 'ended' })
  expect(isThere(500, 501)).toEqual([false, false])
  world.close()
})

verifies('one-owner', 'a session that was handed to the daemon lives as long as that works on it, with or without a process', async () => {
  const { world, hands, two, roster } = await inOneDaemon()
  const judge = async (): Promise<string> => verdict(two, await lookAt(two, hands)).kind
  for (const pid of [420, 421, 600, 601]) {
    expect(await judge()).toBe('alive')
    world.remove(pid)
  }
  // Its worker died, and the daemon will start another.
  expect(await judge()).toBe('alive')
  roster.delete('b')
  expect(await judge()).toBe('over')
  const untold = {
    ...hands,
    harnessDaemons: (rows: readonly { pid: number }[]) => hands.harnessDaemons(rows).map((daemon) => ({ ...daemon, served: null })),
  }
  expect(verdict(two, await lookAt(two, untold)).kind).toBe('unknown')
  world.close()
})

verifies(
  'stop-proof',
  'what the daemon starts again is asked for again; what it goes on with is a survivor, and the daemon is not signalled',
  async () => {
    const { world, hands, two, add, serve, signalled } = await inOneDaemon()
    let asks = 0
    const stubborn = (last: number) => ({
      ...hands,
      ask: async (asking: Parameters<typeof hands.ask>[0]) => {
        await hands.ask(asking)
        asks++
        if (asks < last) serve('b', add(800 + asks, 8000 + asks, { parent: DAEMON }))
      },
    })
    const end = await endRun(two, stubborn(Number.POSITIVE_INFINITY), stop)
    expect(end).toMatchObject({ kind: 'survivors' })
    expect(asks).toBeGreaterThan(1)
    expect(asks).toBeLessThan(10)
    expect(signalled().has(DAEMON)).toBe(false)
    const again = (await world.store.runs.get(two.id)) as LiveRun
    expect(isLive(again)).toBe(true)
    asks = 0
    expect(await endRun(again, stubborn(2), stop)).toMatchObject({ kind: 'ended' })
    expect(asks).toBe(2)
    world.close()
  },
)

test('one that works on without a process is told of by name', async () => {
  const { world, hands, two, roster } = await inOneDaemon()
  const deaf = { ...hands, ask: async () => {} }
  for (const pid of [420, 421]) world.remove(pid)
  expect(roster.has('b')).toBe(true)
  expect(await endRun(two, deaf, stop)).toMatchObject({ kind: 'survivors', survivors: [{ pid: DAEMON, why: 'D still works on session b' }] })
  world.close()
})

test('the session that a command handed over is learnt from the daemon, by directory and time, and kept', async () => {
  const { world, hands, two, natives, roster, members, serve } = await inOneDaemon()
  natives.delete(two.id)
  const began = two.startedAt
  world.exits.set(two.id, { exit: exitFromShell(0), told: null, at: began + 500 })
  for (const [since, learnt] of [
    [began - 1, []],
    [began + 501, []],
    [began + 400, [{ harness: 'claude', id: 'b' }]],
  ] as const) {
    serve('b', { pid: 420, ticks: 4200 }, { pid: 421, ticks: 4210 })
    roster.set('b', { ...(roster.get('b') as ServedSession), dir: two.dir, since })
    await lookAt(two, hands)
    expect(natives.get(two.id) ?? []).toEqual(learnt)
  }
  roster.delete('b')
  expect(await members(two)).toMatchObject({ 600: 'harness-id', 601: 'harness-id' })
  world.close()
})

test('a run without a native id, and no daemon among its members, has nobody’s environment read', async () => {
  const world = await simulated()
  const run = await world.launch('s')
  world.add({ pid: 200, ticks: 2000 })
  world.add({ pid: 1000, ticks: 4000, parent: 200, marker: run.marker })
  const read = (): never => expect.fail('it was read')
  const hands = { ...world, processes: { ...world.processes, environment: read, arguments: read } }
  expect((await censusOf(run, hands, false)).members).toHaveLength(1)
  world.close()
})

/**
 * Cline's hub, born in the first of two runs, with a session of each. It tells its tools nothing. The orphans are dev servers: those of the
 * second session are in the first run's cgroup, and have its marker.
 */
async function inOneHub() {
  const world = await simulated()
  const one = await world.launch('one', { until: 'tree' })
  const cwds = new Map<number, string>()
  const add = (pid: number, parent: number, cwd: string | null, name = 'node'): ProcessId => {
    if (cwd !== null) cwds.set(pid, cwd)
    return world.add({ pid, ticks: pid * 10, parent, marker: one.marker, name })
  }
  const command = add(300, 200, '/d/one', 'cline')
  world.harnesses.set(one.id, command)
  const hub = add(400, 1, '/d/one', 'cline')
  // A tool that the command has started by itself, whose place says nothing.
  add(310, 300, '/elsewhere', 'sh')
  add(500, 1, '/d/one/src')
  add(600, 1, '/d/two/web')
  add(601, 600, null)
  add(700, 1, '/somewhere')
  add(701, 1, null)
  const served = ['one', 'two'].map((id): ServedSession => ({ nativeId: id, dir: `/d/${id}`, since: 1, processes: [], active: true, stop: null }))
  const hands = {
    ...world,
    processes: { ...world.processes, cwd: (pid: number) => cwds.get(pid) ?? null },
    agentState: { ...world.agentState, natives: () => [{ harness: 'cline', id: 'one' }] },
    harnessDaemons: (rows: readonly ProcessId[]) => {
      const seen = world.processes.sample(hub.pid)
      return seen.kind === 'seen' && rows.some(({ pid }) => pid === hub.pid)
        ? [{ row: seen.row, what: 'H', harness: 'cline', served, stop: null }]
        : []
    },
    harnessDaemonRules: { variables: new Map([['cline', null]]), backgroundId: () => null, handsOver: () => null, worksThrough: () => null },
  }
  return { world, one, hands, served }
}

verifies(
  'innocent',
  "what a hub that tells its tools nothing has started for another session is spared and named, although it is in the run's tree",
  async () => {
    const { world, one, hands } = await inOneHub()
    const { members, spared } = await censusOf(one, hands, false)
    expect(members.map(({ row }) => row.pid)).toEqual([300, 310, 500])
    expect(Object.fromEntries(spared.map(({ row, why }) => [row.pid, why]))).toEqual({
      400: 'H; it also serves a session elsewhere (/d/two)',
      600: 'H started it for session two',
      601: 'H may have started it for another session',
      700: 'H may have started it for another session',
      701: 'H may have started it for another session',
    })
    await endRun(one, hands, stop)
    expect(new Set(world.sent.map(({ pid }) => pid))).toEqual(new Set([300, 310, 500]))
    world.close()
  },
)

verifies('stop-proof', 'a hub that serves nobody else ends with its run, and all that it has started', async () => {
  const { world, one, hands, served } = await inOneHub()
  served.pop()
  const { members, spared } = await censusOf(one, hands, false)
  expect([members.map(({ row }) => row.pid).toSorted((a, b) => a - b), spared]).toEqual([[300, 310, 400, 500, 600, 601, 700, 701], []])
  world.close()
})
