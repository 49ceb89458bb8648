import { bornAfter, censusOfAll, isHere } from '../../act/index.ts'
import { suspectsOf } from '../../decide/index.ts'
import type { ProcessRow, Run, Suspect } from '../../model/index.ts'
import { isLive, MS_PER_TICK } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** Who looks related to these runs, live or over, without proof. One pass for all; nobody is signalled for it. */
export async function suspectsOfRuns(world: World, runs: readonly Run[]): Promise<[Run, Suspect[]][]> {
  const { processes, evidence, policy } = world
  const counted = await censusOfAll(
    runs.filter((run) => isHere(run, world) && hasBegun(run)),
    world,
    true,
  )
  const cwds = new Map<number, string | null>()
  const cwd = (pid: number): string | null => {
    const known = cwds.get(pid) ?? processes.cwd(pid)
    cwds.set(pid, known)
    return known
  }
  const isCallers = callersOwn(world)
  // Everybody's sockets are looked at only where there are ports to compare them with.
  let everywhere: ReadonlyMap<number, readonly number[]> | null = null
  return counted.map(([run, { members, strangers, spared, table, doubtful, isOutside, isOnlyInCgroupOf }]) => {
    const listening = processes.ports(members.slice(0, policy.portsAsked).map(({ row }) => row.pid))
    const ports = new Set([...[...listening.values()].flat(), ...evidence.journal(run.id).flatMap((entry) => entry.ports)])
    if (ports.size > 0) everywhere ??= processes.ports(table.rows.map(({ pid }) => pid))
    const known = new Set([...strangers, ...spared.map(({ row }) => row)].map(({ pid }) => pid))
    // What has its marker or its secret may only have gone to another run's cgroup.
    const isElsewhere = (row: ProcessRow): boolean =>
      [row.marker, row.cookie].some((mark) => mark != null && [run.marker, run.cookie].includes(mark)) && isOnlyInCgroupOf(row) !== null
    const exempt = (row: ProcessRow): boolean => isCallers(row) || known.has(row.pid) || (isOutside(row) && !isElsewhere(row))
    const uid = world.own.uid()
    const doubts = new Map(doubtful.map(({ row, why }) => [row.pid, why]))
    const isOnTerminal = (row: ProcessRow): boolean => processes.terminal(row) !== null
    const over = { isOnTerminal, until: isLive(run) ? null : ticksAt(world, run.endedAt) }
    const clues = { ...over, doubts, dir: run.dir, cookie: run.cookie, marker: run.marker, uid, ports, members, exempt, cwd }
    return [run, suspectsOf(table.rows, bornAfter(run), { ...clues, listens: (pid) => everywhere?.get(pid) ?? [] })]
  })
}

/** Ourselves, those that we were started from, and the other programs of our pipeline. */
function callersOwn({ processes }: Pick<World, 'processes'>): (row: ProcessRow) => boolean {
  const own = new Set(processes.origins().map(({ pid }) => pid))
  const self = processes.sample(processes.self().pid)
  const group = self.kind === 'seen' ? self.row.group : null
  return (row) => own.has(row.pid) || row.group === group
}

/** A run whose agent never ran has left nothing. */
const hasBegun = (run: Run): boolean => isLive(run) || run.harness !== null || run.state === 'lost'

const ticksAt = ({ clock, processes }: Pick<World, 'clock' | 'processes'>, at: number): number =>
  processes.ticks() - Math.floor((clock.now() - at) / MS_PER_TICK)

/** What runs, and what ended last: somebody may only just have been left behind. */
export async function runsInQuestion(world: Pick<World, 'policy' | 'store'>): Promise<Run[]> {
  const store = await world.store('reader')
  const live = await store.sessions.snapshot('live', world.policy.sessionsShown)
  const last = await store.sessions.snapshot('all', world.policy.suspectsOf)
  const runs = [...live.views, ...last.views].flatMap(({ run }) => (run === null ? [] : [run]))
  return [...new Map(runs.map((run) => [run.id, run])).values()]
}
