import { bornAfter, censusOf, isHere, isThere, untilGone } from '../act/index.ts'
import { suspectsOf } from '../decide/index.ts'
import type { ProcessRow, Run, Suspect } from '../model/index.ts'
import { Problem } from '../model/index.ts'
import type { World } from './world.ts'

/** Who looks related to a run, live or over, without proof. Nobody is signalled for that. */
export async function suspectsOfRun(world: World, run: Run): Promise<Suspect[]> {
  const { processes, files, policy } = world
  if (!isHere(run, world)) return []
  const { members, strangers, spared, table } = await censusOf(run, world, true)
  const others = await world.others()
  const own = processes.self().pid
  const known = new Set([...strangers, ...spared.map(({ row }) => row)].map(({ pid }) => pid))
  const isOther = ({ pid, marker = null }: ProcessRow): boolean =>
    pid === own || pid === run.keeper?.pid || known.has(pid) || (marker !== null && marker !== run.marker && others.has(marker))
  const listening = processes.ports(members.slice(0, policy.portsAsked).map(({ row }) => row.pid))
  const ports = new Set([...[...listening.values()].flat(), ...files.journal(run.id).flatMap((entry) => entry.ports)])
  // Everybody's sockets are looked at only where there are ports to compare them with.
  const everywhere = ports.size === 0 ? new Map<number, readonly number[]>() : processes.ports(table.rows.map(({ pid }) => pid))
  return suspectsOf(table.rows, bornAfter(run), {
    dir: run.dir,
    cookie: run.cookie,
    marker: run.marker,
    uid: process.geteuid?.() ?? 0,
    ports,
    members,
    exempt: isOther,
    cwd: (pid) => processes.cwd(pid),
    listens: (pid) => everywhere.get(pid) ?? [],
  })
}

/** What runs, and what ended last: somebody may only just have been left behind. */
export async function runsInQuestion(world: World): Promise<Run[]> {
  const store = await world.store('reader')
  const live = await store.snapshot('live', world.policy.sessionsShown)
  const last = await store.snapshot('all', world.policy.suspectsOf)
  const runs = [...live.views, ...last.views].flatMap(({ run }) => (run === null ? [] : [run]))
  return [...new Map(runs.map((run) => [run.id, run])).values()]
}

export type EndedSuspect = { readonly pid: number; readonly name: string; readonly session: string; readonly result: 'ended' | 'survives' | 'denied' }

/** On a person's word, after looking again: only who is a suspect now, by the identity seen now. Nothing it started is touched. */
export async function endSuspects(world: World, pids: readonly number[], graceMs: number): Promise<EndedSuspect[]> {
  const found = new Map<number, { row: ProcessRow; session: string }>()
  for (const run of await runsInQuestion(world)) {
    for (const { row } of await suspectsOfRun(world, run)) if (!found.has(row.pid)) found.set(row.pid, { row, session: run.session })
  }
  const stranger = pids.find((pid) => !found.has(pid))
  if (stranger !== undefined)
    throw new Problem('noSuchSession', `pid ${stranger} is no suspect of any session; nothing was signalled`, {
      hint: 'holdfast tree S --suspects lists them; holdfast stop S ends a session with its members',
    })
  return Promise.all(
    pids.map(async (pid) => {
      const { row, session } = found.get(pid) as { row: ProcessRow; session: string }
      return { pid, name: row.name, session, result: await endOne(world, row, graceMs) }
    }),
  )
}

async function endOne(world: World, row: ProcessRow, graceMs: number): Promise<EndedSuspect['result']> {
  const { processes, policy } = world
  for (const [signal, ms] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', policy.killMs],
  ] as const) {
    const answer = processes.send(row, signal)
    if (answer === 'denied' || answer === 'forbidden') return 'denied'
    processes.send(row, 'SIGCONT')
    await untilGone([row], world, ms)
    if (!isThere(row, processes)) return 'ended'
  }
  return 'survives'
}
