import { join } from 'node:path'
import { isThere, release, untilGone } from '../../act/index.ts'
import { sessionVariables, startTrouble } from '../../decide/index.ts'
import { GIT_VARIABLES, SESSION_VARIABLES } from '../../harness/index.ts'
import type { CgroupBase, Ending, HostedKeeper, Launch, Pane, ProblemId, ProcessId, RunBase, RunRecord, Store } from '../../model/index.ts'
import { intentOf, isLive, LINEAGE_VARIABLE, liveRunsOf, NOT_STARTED, Problem } from '../../model/index.ts'
import { hostedElsewhere } from '../pane/hosting.ts'
import { reachServer } from '../pane/join-pane.ts'
import { withFailpoints } from '../world/failpoints.ts'
import type { Front } from '../world/front.ts'
import { newMarker, OWN_VARIABLES } from '../world/ids.ts'
import type { World } from '../world/world.ts'

export function launchOf(
  world: Pick<World, 'assets' | 'env' | 'fences' | 'home' | 'own' | 'ownHarnesses' | 'worktreesFolder'>,
  run: RunRecord,
  about: {
    lineage: readonly string[]
    timeoutMs: number | null
    front: Front | null
    umask: number
    base: CgroupBase
    follow: Launch['follow']
    stdin: string | null
  },
): Launch {
  const names = Object.keys(world.env)
  const unwanted = run.dir.startsWith(`${world.worktreesFolder}/`) ? [...OWN_VARIABLES, ...GIT_VARIABLES] : OWN_VARIABLES
  const table = [...SESSION_VARIABLES, ...world.ownHarnesses().flatMap((harness) => harness.sessionVariables)]
  const stripped = [...sessionVariables(names, table), ...unwanted.filter((name) => names.includes(name))]
  const environment = { ...world.env }
  for (const name of stripped) delete environment[name]
  const ignored = about.front?.ignores ?? new Set<number>()
  return {
    run,
    environment,
    stripped,
    added: {
      // In the foreground a shell hands them on by itself.
      ...(about.front === null ? world.own.unreadVariables(environment) : {}),
      HOLDFAST_HOME: world.home,
      // For our own command and hooks, wherever the agent's own PATH leads.
      HOLDFAST_NODE: world.own.executable,
      HOLDFAST_DIST: world.assets,
      HOLDFAST_SESSION: run.session,
      HOLDFAST_RUN: run.id,
      HOLDFAST_EPOCH: String(run.epoch),
      HOLDFAST_FENCE: world.fences.path(run.id),
      [LINEAGE_VARIABLE]: [...about.lineage, run.cookie].join(':'),
    },
    helperMarker: run.marker === null ? null : newMarker('helper'),
    keeperCgroup: about.base.kind === 'base' && about.base.inside ? about.base.path : null,
    cgroupMount: about.base.kind === 'none' ? about.base.mount : null,
    timeoutSeconds: about.timeoutMs === null ? null : Math.max(1, Math.ceil(about.timeoutMs / 1000)),
    follow: about.follow,
    stdin: about.stdin,
    umask: about.umask,
    // A shell starts background children deaf to INT and QUIT; the agent must hear them, unless the caller was deaf too.
    // (tmux has all that it hosts ignore TTIN and TTOU.)
    defaultSignals: [...(ignored.has(2) ? [] : ['INT']), ...(ignored.has(3) ? [] : ['QUIT']), ...(run.tmux === null ? [] : ['TTIN', 'TTOU'])],
  }
}

/** In the foreground the keeper is on record with the claim; it only has to be told. One that was killed meanwhile reads nothing, and nothing ever runs. */
export function handOver(world: Pick<World, 'keepers'>, launch: Launch): void {
  try {
    world.keepers.handOver(launch)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    const what = `the shell that was to keep session ${launch.run.session} ended before it was told how; nothing was started`
    throw new Problem('front-gone', what, { hint: 'start it again', cause: error })
  }
}

/** Spawn, record, open the gate. Whatever goes wrong before it is open closes it, and nothing ever runs. */
export async function launchDetached(world: World, store: Store, launch: Launch): Promise<ProcessId> {
  const { run } = launch
  const hosted = run.tmux === null ? null : await hostInPane(world, store, launch, run.tmux)
  const gated = withFailpoints('gate', hosted ?? (await world.keepers.spawn(launch)))
  try {
    if (hosted !== null) takeHosted(world, run, hosted)
    world.runRecords.recordKeeper(run.id, gated.keeper)
    const won = await store.claims.recordRunning(run, gated.keeper, world.clock.now())
    if (!won) throw new Problem('start-cancelled', `session ${run.session} was asked to end while it was starting; nothing was started`)
    await gated.open()
  } catch (error) {
    gated.close()
    await untilGone([gated.keeper], world, world.policy.keeperLeaveMs)
    throw error
  }
  return gated.keeper
}

/** Our server is nobody's: a helper by its marker, and in no run's cgroup. */
async function hostInPane(
  world: Pick<World, 'cgroups' | 'evidence' | 'keepers' | 'panes' | 'policy' | 'processes'>,
  store: Store,
  launch: Launch,
  pane: Pane,
): Promise<HostedKeeper> {
  if (world.panes.isSwept(pane)) await reachAny(world, store, pane)
  const base = world.cgroups.base()
  const marker = world.keepers.markerTrouble() === null ? newMarker('helper') : null
  return world.panes.spawn(launch, pane, { marker, cgroup: base.kind === 'base' ? base.path : null })
}

/** Another server may have come up since its namespaces were looked at: what counts is where the keeper is. */
function takeHosted(world: Pick<World, 'evidence'>, run: RunBase, { server, namespaces }: HostedKeeper): void {
  const problem = hostedElsewhere(namespaces)
  if (problem !== null) throw problem
  if (server !== null) world.evidence.recordServer(run.id, server)
}

/** A second server in the place of one that lives would hide it from everybody. */
async function reachAny(world: Pick<World, 'evidence' | 'panes' | 'policy' | 'processes'>, store: Store, { socket }: Pane): Promise<void> {
  const { views } = await store.sessions.snapshot('live', world.policy.sessionsShown)
  for (const run of liveRunsOf(views)) if (run.tmux?.socket === socket && (await reachServer(world, run))) return
}

/** A shell says 126 or 127 of a program that it cannot start. */
const startProblem = (code: number): ProblemId => (code === 126 || code === 127 ? 'program-missing' : 'program-not-started')

type UntilWorld = Pick<World, 'assets' | 'clock' | 'directories' | 'env' | 'evidence' | 'home' | 'policy' | 'processes' | 'runRecords'>

/** The stub writes down who the agent will be right before it becomes it: as long as it has its own words, nothing has begun. */
function isStub({ assets, processes, runRecords }: UntilWorld, run: RunBase, { pid }: ProcessId): boolean {
  const [, script, folder] = processes.arguments(pid)
  return script === join(assets, 'stub.sh') && folder === runRecords.path(run.id)
}

/** A program that is there and cannot be found is a script whose interpreter is not there. */
function notStartedText({ directories, env }: UntilWorld, { argv: [program = ''], dir }: RunBase, code: number): string {
  const isThere = code === 127 && directories.program(program, dir, env['PATH']) !== null
  return `${NOT_STARTED} ${program}: ${isThere ? 'the interpreter that it names is missing (ENOENT)' : startTrouble(code)}`
}

/** Comes back when the agent has begun. One that could not be started, or was ended before it began, is told as such. */
export async function untilHarness(world: UntilWorld, store: Store, run: RunBase, keeper: ProcessId): Promise<ProcessId> {
  const { evidence, clock, policy, processes } = world
  const until = clock.elapsed() + policy.launchMs
  const look = { hint: `look with: holdfast status ${run.session}` }
  for (let delay = policy.pollMinMs; clock.elapsed() < until; delay = Math.min(delay * 2, policy.pollMaxMs)) {
    const keeping = isThere(keeper, processes)
    const named = evidence.harness(run.id)
    const harness = named === null || isStub(world, run, named) ? null : named
    const failed = evidence.notStarted(run.id)
    if (failed !== null) throw new Problem(startProblem(failed), notStartedText(world, run, failed), look)
    if (harness !== null) return harness
    if (!keeping) {
      const now = await store.runs.get(run.id)
      if (run.tmux !== null && (now === null || intentOf(now) === null))
        throw new Problem('pane-not-made', 'tmux could not host it: its pane was gone before its agent began', {
          hint: `see whether ${join(world.home, 'tmux.conf')} is why, if there is one; or leave --tmux out`,
        })
      const why = now !== null && intentOf(now) !== null ? intentOf(now)?.reason : now !== null && !isLive(now) ? now.reason : 'its keeper is gone'
      throw new Problem('start-cancelled', `session ${run.session} was ended before its agent began: ${why}`, look)
    }
    await clock.sleep(delay)
  }
  throw new Problem(
    'agent-never-appeared',
    `session ${run.session} was started, but its agent did not appear within ${policy.launchMs / 1000} s`,
    look,
  )
}

/** A launch that failed before its gate opened leaves no open run behind; nothing of it ever ran. */
export async function abandon(world: World, store: Store, run: RunBase, error: unknown): Promise<void> {
  const current = await store.runs.get(run.id)
  if (current === null || !isLive(current)) return
  const intent = intentOf(current)
  const ending: Ending = {
    state: intent?.end ?? 'failed',
    exit: null,
    reason: intent?.reason ?? `could not start: ${error instanceof Error ? error.message : String(error)}`,
    evidence: ['the gate never opened'],
    by: intent?.by ?? 'launcher',
  }
  await store.claims.recordEnded(current, ending, null, world.clock.now())
  await release(current, world)
}
