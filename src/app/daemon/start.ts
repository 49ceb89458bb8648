import { sessionVariables } from '../../decide/index.ts'
import { SESSION_VARIABLES } from '../../harness/index.ts'
import { askDaemon } from '../../keep/index.ts'
import type { DaemonAnswer, DaemonPresence } from '../../model/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import { newMarker, OWN_VARIABLES } from '../world/ids.ts'
import type { World } from '../world/world.ts'
import { isComing } from './control.ts'
import { type DaemonPlace, daemonPlace, folderProblem, repair } from './place.ts'

/** `version`: of the daemon that runs now; null: it said only that it is another one. */
export type DaemonStarted = {
  readonly kind: 'started' | 'running'
  readonly pid: number | null
  readonly version: string | null
  readonly elsewhere: string | null
  readonly repaired: readonly string[]
}

/** `before`: how much was in the log when it was started. */
type Child = ReturnType<World['keepers']['apart']> & { readonly before: number }

/** Has a daemon run, and answers once it does: the one that was there, ours, or that of another start that was faster. */
export async function startDaemon(world: World): Promise<DaemonStarted> {
  const place = daemonPlace(world)
  return cameUp(world, place).catch((error: unknown) => {
    throw folderProblem(place, error)
  })
}

async function cameUp(
  world: Pick<World, 'cgroups' | 'clock' | 'env' | 'home' | 'keepers' | 'ownHarnesses' | 'policy'>,
  place: DaemonPlace,
): Promise<DaemonStarted> {
  const { clock, policy } = world
  const repaired: string[] = []
  const until = clock.elapsed() + policy.daemonStartMs
  let child: Child | null = null
  let silentSince: number | null = null
  for (;;) {
    const presence = place.presence()
    if (presence.kind === 'dead') repaired.push(...repair(place, clock.now()))
    if (presence.kind === 'none') child = born(world, place, child)
    if (presence.kind === 'unseen' || (presence.kind === 'alive' && presence.record !== null)) {
      silentSince ??= clock.elapsed()
      const answer = await askDaemon(place.files, policy.daemonAnswerMs)
      if (answer.kind !== 'silent') return startedAs(presence, answer, child, repaired)
      if (clock.elapsed() - silentSince > policy.daemonSilentMs) throw silent(presence, answer.why)
    } else silentSince = null
    if (clock.elapsed() >= until) throw isComing(presence) ? silent(presence, 'it wrote no record') : neverCame(place, child)
    await clock.sleep(policy.pollMaxMs / 2)
  }
}

/** One at a time. One that left because another was faster is no failure; if that one is gone by now, it is our turn again. */
function born(world: Pick<World, 'cgroups' | 'env' | 'home' | 'keepers' | 'ownHarnesses'>, place: DaemonPlace, child: Child | null): Child {
  if (child !== null && child.code() === null && child.trouble() === null) return child
  if (child !== null && child.code() !== exitCode.held) throw neverCame(place, child)
  place.files.make()
  const base = world.cgroups.base()
  const before = place.files.logSize()
  const next = world.keepers.apart(['daemon', 'run', '--by', 'start'], {
    env: cleanEnvironment(world),
    marker: world.keepers.markerTrouble() === null ? newMarker('helper') : null,
    cgroup: base.kind === 'base' ? base.path : null,
    folder: place.files.folder,
    log: place.files.log,
  })
  return { ...next, before }
}

/** Nothing of the session or run that it is started from: it outlives them, and tells nobody that it is one of them. */
export function cleanEnvironment(world: Pick<World, 'env' | 'home' | 'ownHarnesses'>): NodeJS.ProcessEnv {
  const names = Object.keys(world.env)
  const table = [...SESSION_VARIABLES, ...world.ownHarnesses().flatMap((harness) => harness.sessionVariables)]
  const unwanted = new Set([...sessionVariables(names, table), ...OWN_VARIABLES, 'HOLDFAST_CLIENT', 'PWD'])
  const kept = Object.entries(world.env).filter(([name]) => !unwanted.has(name))
  return { ...Object.fromEntries(kept), HOLDFAST_HOME: world.home }
}

function startedAs(presence: DaemonPresence, answer: DaemonAnswer, child: Child | null, repaired: readonly string[]): DaemonStarted {
  const record = 'record' in presence ? presence.record : null
  const pid = presence.kind === 'alive' ? presence.process.pid : (record?.process.pid ?? null)
  return {
    kind: child !== null && child.pid === pid ? 'started' : 'running',
    pid,
    version: answer.kind === 'other' ? answer.version : (record?.version ?? null),
    elsewhere: presence.kind === 'unseen' ? presence.why : null,
    repaired,
  }
}

function silent(presence: DaemonPresence, why: string): Problem {
  const who = presence.kind === 'alive' ? `the daemon (pid ${presence.process.pid}${presence.frozen ? ', frozen' : ''})` : 'a daemon'
  return new Problem('daemon-silent', `${who} holds this home but does not answer (${why}); it was not replaced`, {
    hint: presence.kind === 'alive' ? `kill -CONT ${presence.process.pid} wakes a frozen one; holdfast daemon stop ends it` : 'look where it runs',
  })
}

function howItWent(code: number | null): string {
  if (code === null) return 'it did not come up in time'
  // Nobody else has it leave so: somebody was at it who did not know of us.
  return code === exitCode.done ? 'it was stopped again before it answered' : `it ended with ${code}`
}

function neverCame(place: DaemonPlace, child: Child | null): Problem {
  const why = child?.trouble() ?? howItWent(child?.code() ?? null)
  const words = child === null ? '' : place.files.lastWords(3, child.before)
  return new Problem(
    'daemon-not-started',
    `the daemon could not be started: ${why}${words === '' ? '' : `; it said: ${words.trim().replaceAll('\n', ' / ')}`}`,
    {
      hint: `all that it said is in ${place.files.log}`,
    },
  )
}
