import { endRun, endWhatIsLeft, type LookPorts, lookAt, type RunEnd } from '../../act/index.ts'
import { hungUp, judge, verdict } from '../../decide/index.ts'
import type { Intent, LiveRun, ProcessRow, Store } from '../../model/index.ts'
import { exitFromShell, intentOf, isLive, Problem, sameProcess } from '../../model/index.ts'
import { housekeep } from '../maintenance/retention.ts'
import type { World } from '../world/world.ts'
import { intentFor } from './end-reasons.ts'

/**
 * What a keeper has Node do when its harness is gone: end the leftovers and the runs started in it, verify, record. `code`: what the
 * keeper saw, for a run whose directory cannot be written any more.
 */
export async function finishRun(world: World, id: string, code: number | null = null): Promise<RunEnd | null> {
  const store = await world.store('writer')
  const run = await store.runs.get(id)
  if (run === null) return null
  if (code !== null && isLive(run) && world.evidence.exit(id) === null) await store.claims.recordExited(run, exitFromShell(code), world.clock.now())
  const how = { intent: null, graceMs: world.policy.graceMs }
  await leaveToOthers(world, store, id)
  const left = (await store.runs.get(id)) ?? run
  const end = await (isLive(left) ? endRun(left, { ...world, store }, how) : endWhatIsLeft(left, { ...world, store }, how))
  world.runLogs.cap(id)
  // While it lives, files name the helpers that are still at work for it.
  if (end.kind === 'ended') world.runRecords.tidy(id)
  if (world.clock.random() * world.policy.housekeepingOdds < 1) await housekeep(world, store)
  return end
}

/** Somebody asked for this end and is giving what is left of it its grace: that is theirs to end, unless they do not. */
async function leaveToOthers(world: LookPorts & Pick<World, 'clock' | 'policy'>, store: Store, id: string): Promise<void> {
  const { clock, policy } = world
  const began = clock.elapsed()
  for (let delay = policy.pollMaxMs; ; delay = Math.min(delay * 2, policy.followMs * 5)) {
    const run = await store.runs.get(id)
    if (run === null || !isLive(run)) return
    const graceMs = intentOf(run)?.graceMs ?? ((world.evidence.exit(id)?.told ?? null) === null ? null : policy.graceMs)
    if (graceMs === null || clock.elapsed() - began >= graceMs + policy.killMs) return
    if (verdict(run, await lookAt(run, world)).kind !== 'leftovers') return
    await clock.sleep(delay)
  }
}

/**
 * The command itself was told to end, or its time is over. `scope`: who heard the signal: the agent (`command`), all of its group (`group`),
 * or `both` where the agent is in another one. It was sent just before we were born.
 */
export async function endAsked(world: World, id: string, why: string, scope: string | null): Promise<RunEnd> {
  const store = await world.store('writer')
  const run = await store.runs.get(id)
  if (run === null) throw new Problem('run-unknown', `no such run: ${id}`)
  if (!isLive(run)) return { kind: 'ended', run, ended: [], spared: [], unrecorded: null }
  const intent = why === 'HUP' && run.tmux !== null ? paneClosed(world, run) : intentFor(why)
  const since = world.processes.self().ticks - 1
  const told = scope === null ? {} : { told: { heard: hearersOf(world, run, scope, since), since, wasTerm: why === 'TERM' } }
  return endRun(run, { ...world, store }, { intent, graceMs: world.policy.graceMs, ...told })
}

/** A pane that is closed hangs up on its keeper. */
function paneClosed({ evidence, processes }: Pick<World, 'evidence' | 'processes'>, run: LiveRun): Intent {
  const server = evidence.server(run.id)
  return { end: 'stopped', ...hungUp(server === null ? null : judge(processes, run.place, server)) }
}

/** Births are known to a hundredth of a second; who was born with the signal is taken to have heard it. */
function hearersOf(world: Pick<World, 'evidence' | 'processes'>, run: LiveRun, scope: string, since: number): (row: ProcessRow) => boolean {
  const harness = scope === 'group' ? null : world.evidence.harness(run.id)
  const keeper = run.keeper === null ? null : world.processes.sample(run.keeper.pid)
  const group = scope !== 'command' && keeper?.kind === 'seen' && keeper.row.ticks === run.keeper?.ticks ? keeper.row.group : null
  return (row) => (harness !== null && sameProcess(row, harness)) || (group !== null && row.group === group && row.ticks <= since + 1)
}
