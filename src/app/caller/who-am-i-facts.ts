import { harnessOf, isHere, isThere, lookAtAll } from '../../act/index.ts'
import type { Listed, OnRecord, Origin, SelfFacts, Served } from '../../decide/index.ts'
import { agentsAmong, mayBeAgent, registeredAgents } from '../../harness/index.ts'
import type {
  Agent,
  Environment,
  HarnessDaemon,
  LiveRun,
  NativeId,
  ProcessId,
  ProcessRow,
  Registered,
  Run,
  ServedSession,
  Store,
} from '../../model/index.ts'
import { innermostCookie, isLive, LINEAGE_VARIABLE, sameProcess } from '../../model/index.ts'
import type { Front } from '../world/front.ts'
import { candidateOf, everybody } from '../world/process-candidate.ts'
import type { World } from '../world/world.ts'
import { bornWith, provenFront } from './caller.ts'

/** A live run with the process that is its agent, as somebody has just seen it; null: that is not known. */
export type Seen = { readonly run: Run; readonly pid: number | null }

/**
 * Everything that tells who the caller is. Only the few processes that it was started from are looked at; all of them only where nothing but
 * a marker is left, and that may have come through a shared daemon.
 */
export async function selfFacts(
  world: World,
  as: 'writer' | 'reader',
  { seen, front: known }: { readonly seen?: readonly Seen[] | undefined; readonly front?: Front | null } = {},
): Promise<SelfFacts> {
  const store = await world.store(as)
  const front = known === undefined ? await provenFront(world, as) : known
  const marker = bornWith(world, front)
  const marked = await onRecord(store, marker === null ? null : ((await store.runs.liveWithMarker(marker)) ?? (await store.runs.withMarker(marker))))
  const name = world.env['HOLDFAST_RUN']
  const named = name === undefined ? null : await onRecord(store, await store.runs.get(name))
  const said = { epoch: world.env['HOLDFAST_EPOCH'], secret: secretOf(world, front) }
  const rows = around(world, front)
  const all = seen ?? (await store.sessions.snapshot('live', world.policy.sessionsShown)).views.map(({ run }) => ({ run, pid: null }))
  const live = all.flatMap(({ run }) => (run !== null && isLive(run) && isHere(run, world) ? [run] : []))
  const others = new Set(all.flatMap(({ run, pid }) => (run !== null && pid !== null && !rows.some((row) => row.pid === pid) ? [run.id] : [])))
  const daemons = world.harnessDaemons(rows)
  const owners = ownersFor(world, store, live)
  // A run that has its keeper around us is told by that. The files of the rest are read only where their agent may be among these.
  const recorded = live.filter((run) => !others.has(run.id) && (run.id === marked?.run.id || run.adopted || run.marker === null))
  const roots = [...live, ...(marked === null || isLive(marked.run) || !isHere(marked.run, world) ? [] : [marked.run])]
  const origins = await originsIn(world, store, { rows, daemons, recorded, roots }, owners)
  const agent = marked === null ? null : harnessOf(marked.run, world.evidence)
  const isAround = agent !== null && rows.some((row) => sameProcess(row, agent))
  return {
    marker,
    marked,
    contained: marked !== null && isContained(world, marked.run),
    named,
    said,
    origins,
    served: await servedBy(world, marker, { rows, daemons }, owners),
    elsewhere: marked?.session.harness != null && agent !== null && !isAround && isThere(agent, world.processes),
    doubt: marked === null || marker === null || isAround || said.secret === marked.run.cookie ? null : doubtOf(world, marker),
  }
}

async function onRecord(store: Store, run: Run | null): Promise<OnRecord | null> {
  const found = run === null ? null : await store.sessions.find(run.session, 'exact')
  return run !== null && found?.kind === 'found' ? { session: found.view.session, run } : null
}

/** Is the caller in the cgroup of this run? */
function isContained({ cgroups, evidence, processes }: Pick<World, 'cgroups' | 'evidence' | 'processes'>, run: Run): boolean {
  const path = evidence.cgroup(run.id)
  const view = path === null ? null : cgroups.view(path)
  const caller = processes.origins()[0]
  return view?.kind === 'present' && caller !== undefined && view.pids.has(caller.pid)
}

/** The secret of the innermost run; without the one that our own front has just made. */
function secretOf({ env }: Pick<World, 'env'>, front: Front | null): string | undefined {
  const lineage = env[LINEAGE_VARIABLE]
  const own = front !== null && lineage?.endsWith(front.cookie) === true ? lineage.slice(0, -front.cookie.length - 1) : lineage
  return own === undefined || own === '' ? undefined : innermostCookie(own)
}

/** Those that we were started from, as they are now: without ourselves, and without the shell that waits for us. */
function around({ processes }: Pick<World, 'processes'>, front: Front | null): ProcessRow[] {
  return processes
    .origins()
    .slice(1, MAX_ORIGINS)
    .flatMap((one) => {
      const seen = one.pid === front?.keeper.pid ? null : processes.sample(one.pid)
      return seen?.kind === 'seen' && sameProcess(seen.row, one) ? [seen.row] : []
    })
}
const MAX_ORIGINS = 100

type Owners = (native: NativeId) => Promise<OnRecord | null>

/** Whose a conversation is: as the store has it, or as a run has just learnt it. */
const ownersFor = (world: World, store: Store, live: readonly LiveRun[]): Owners =>
  async function ownerOf({ harness, id }) {
    const view = await store.conversations.owner({ harness, id })
    if (view?.run != null) return { session: view.session, run: view.run }
    // A session that was handed to a daemon is known by its id as soon as somebody looks for its members.
    const { agentState, harnessDaemonRules } = world
    await lookAtAll(
      live.filter((run) => harnessDaemonRules.handsOver(run.argv) === harness && agentState.natives(run.id).length === 0),
      world,
    )
    const run = live.find((one) => agentState.natives(one.id).some((native) => native.harness === harness && native.id.startsWith(id)))
    return run === undefined ? null : onRecord(store, run)
  }

type Chain = {
  readonly rows: readonly ProcessRow[]
  readonly daemons: readonly HarnessDaemon[]
  /** The runs whose agent may be among them. Who carries the marker of one is in no other that could be given one. */
  readonly recorded: readonly LiveRun[]
  /** The runs whose keeper may be among them. */
  readonly roots: readonly Run[]
}

async function originsIn(
  world: Pick<World, 'env' | 'evidence' | 'ownHarnesses' | 'processes'>,
  store: Store,
  { rows, daemons, recorded: runs, roots }: Chain,
  ownerOf: Owners,
): Promise<Origin[]> {
  const { processes, evidence } = world
  const agents = nestedAgents(world, rows)
  const known = runs.flatMap((run): [ProcessId, LiveRun][] => {
    const agent = harnessOf(run, evidence)
    return agent === null ? [] : [[agent, run]]
  })
  const origins: Origin[] = []
  for (const [place, row] of rows.entries()) {
    const agent = agents.find((one) => one.row.pid === row.pid) ?? null
    const parent = rows[place + 1]
    const kept = parent === undefined || parent.pid !== row.parent ? undefined : roots.find((run) => isKept(run, parent, row, world))
    const recorded = kept ?? known.find(([id]) => sameProcess(id, row))?.[1] ?? null
    origins.push({
      process: { pid: row.pid, ticks: row.ticks },
      marker: processes.marker(row.pid),
      recorded: await onRecord(store, recorded),
      agent,
      listed:
        agent === null || agent.nativeId === null ? null : withRival(world, rows, await ownerOf({ harness: agent.harness, id: agent.nativeId })),
      daemon: daemons.find((one) => one.row.pid === row.pid)?.what ?? null,
    })
  }
  return origins
}

/** A child of the run's keeper that is not older than the agent: the shell that became the keeper may have had jobs. */
function isKept(run: Run, parent: ProcessRow, row: ProcessRow, { processes, evidence }: Pick<World, 'evidence' | 'processes'>): boolean {
  if (run.keeper === null || !sameProcess(run.keeper, parent)) return false
  const agent = harnessOf(run, evidence)
  return agent === null ? processes.marker(row.pid) === run.marker : row.ticks >= agent.ticks
}

/** A conversation may have two owners: the one that its run has on record is the session. */
function withRival(
  { processes, evidence }: Pick<World, 'evidence' | 'processes'>,
  rows: readonly ProcessRow[],
  record: OnRecord | null,
): Listed | null {
  const agent = record === null ? null : harnessOf(record.run, evidence)
  const isElsewhere = agent !== null && !rows.some((row) => sameProcess(row, agent)) && isThere(agent, processes)
  return record === null ? null : { ...record, rival: isElsewhere ? agent.pid : null }
}

/** The agents among them, each with what its own harness says of it: where that keeps its things, its environment tells, or what it gave us. */
function nestedAgents(world: Pick<World, 'env' | 'ownHarnesses' | 'processes'>, rows: readonly ProcessRow[]): Agent[] {
  const { processes } = world
  const own = world.ownHarnesses()
  const candidates = rows.filter((row) => mayBeAgent(row.name, processes.arguments(row.pid), own)).map((row) => candidateOf(processes, row))
  if (candidates.length === 0) return []
  const registered = candidates.flatMap(({ row }) => {
    const entriesIn = (env: Environment): Registered[] => registeredAgents(env, (pid) => pid === row.pid)
    const entries = entriesIn(processes.environment(row.pid))
    return entries.length > 0 ? entries : entriesIn(world.env)
  })
  const agents = agentsAmong(candidates, registered, own)
  return agents.filter((agent) => !agents.some((parent) => isFork(agent, parent)))
}

/** A copy of an agent that has become nothing else (a subshell): it is no other agent. */
const isFork = (agent: Agent, parent: Agent): boolean =>
  agent.row.parent === parent.row.pid &&
  agent.harness === parent.harness &&
  agent.nativeId === null &&
  agent.argv.join('\0') === parent.argv.join('\0')

/** The conversation in a shared daemon that has started us: by the process that works for it, or by what our environment says. */
async function servedBy(world: World, marker: number | null, chain: Omit<Chain, 'recorded' | 'roots'>, ownerOf: Owners): Promise<Served | null> {
  for (const { harness, served } of chain.daemons) {
    const own = served?.find(({ processes }) => processes.some((one) => chain.rows.some((row) => sameProcess(row, one))))
    if (own?.nativeId == null) continue
    return { harness, id: own.nativeId, owner: await ownerOf({ harness, id: own.nativeId }), doubt: null }
  }
  const said = saidIn(world)
  if (said === null) return null
  const { harness, id } = said
  const native = nativeOf(
    said,
    daemonsWith(world, marker).filter((daemon) => daemon.harness === harness),
  )
  if (native !== null) return { harness, id: native, owner: await ownerOf({ harness, id: native }), doubt: null }
  const doubt = `its environment names ${harness} session ${id}, but no shared daemon that it can have come through serves that`
  return { harness, id, owner: null, doubt }
}

/** `session`: what the daemon calls it, the beginning of an id that it has or had. */
type Said = NativeId & { readonly session: string }

function saidIn({ harnessDaemonRules, env }: Pick<World, 'env' | 'harnessDaemonRules'>): Said | null {
  for (const [harness, variable] of harnessDaemonRules.variables) {
    const session = harnessDaemonRules.backgroundId(harness, env)
    if (session !== null) return { harness, id: (variable === null ? undefined : env[variable]) || session, session }
  }
  return null
}

/** An environment can say anything: it only tells which of those it is that a daemon really serves. */
function nativeOf({ id, session }: Said, daemons: readonly HarnessDaemon[]): string | null {
  const all = daemons.flatMap(({ served }) => served ?? [])
  const known = (is: (one: string) => boolean): ServedSession | undefined =>
    all.find(({ nativeId, firstId }) => [nativeId, firstId].some((one) => one != null && is(one)))
  return (known((one) => one === id) ?? known((one) => one.startsWith(session)))?.nativeId ?? null
}

/** All that a shared daemon starts has its marker. */
const daemonsWith = (world: World, marker: number | null): HarnessDaemon[] =>
  world.harnessDaemons(everybody(world)).filter(({ row }) => world.processes.marker(row.pid) === marker)

/** What lost its parents and its environment has only a marker; and all that such a daemon starts has the daemon's. */
function doubtOf(world: World, marker: number): string | null {
  const [daemon] = daemonsWith(world, marker)
  if (daemon === undefined) return null
  return `it carries a run's marker, but so does all that ${daemon.what} (pid ${daemon.row.pid}) starts for others, and nothing else tells`
}
