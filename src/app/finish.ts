import { endRun, endWhatIsLeft, type RunEnd } from '../act/index.ts'
import type { Intent, LiveRun, ProcessRow } from '../model/index.ts'
import { exitFromShell, isLive, Problem } from '../model/index.ts'
import { housekeep, TIME_IS_OVER } from './reconcile.ts'
import type { World } from './world.ts'

/**
 * What a keeper has Node do when its harness is gone: end the leftovers and the runs started in it, verify, record. `code`: what the
 * keeper saw, for a run whose directory cannot be written any more.
 */
export async function finishRun(world: World, id: string, code: number | null = null): Promise<RunEnd | null> {
  const store = await world.store('writer')
  const run = await store.run(id)
  if (run === null) return null
  if (code !== null && isLive(run) && world.files.exit(id) === null) await store.recordExited(run, exitFromShell(code), world.clock.now())
  const how = { intent: null, graceMs: world.policy.graceMs }
  const end = await (isLive(run) ? endRun(run, { ...world, store }, how) : endWhatIsLeft(run, { ...world, store }, how))
  world.files.capLog(id)
  if (world.clock.random() * world.policy.housekeepingOdds < 1) await housekeep(world, store)
  return end
}

/**
 * The command itself was told to end, or its time is over. What heard the signal already is not told again: the agent or, when it went
 * to the whole `group`, all of it. `at`: when, in ticks.
 */
export async function endAsked(world: World, id: string, why: string, heard?: { scope: string; at: number }): Promise<RunEnd> {
  const store = await world.store('writer')
  const run = await store.run(id)
  if (run === null) throw new Problem('noSuchSession', `no such run: ${id}`)
  if (!isLive(run)) return { kind: 'ended', run, ended: [], unrecorded: null }
  const intent: Intent = why === 'TIMEOUT' ? TIME_IS_OVER : { end: 'stopped', by: `SIG${why}`, reason: `the holdfast command received SIG${why}` }
  const told = heard === undefined ? {} : { told: { who: hearersOf(world, run, heard.scope), since: heard.at } }
  return endRun(run, { ...world, store }, { intent, graceMs: world.policy.graceMs, ...told })
}

function hearersOf(world: World, run: LiveRun, scope: string): (row: ProcessRow) => boolean {
  const harness = world.files.harness(run.id)
  const keeper = run.keeper === null ? null : world.processes.sample(run.keeper.pid)
  const group = scope === 'group' && keeper?.kind === 'seen' && keeper.row.ticks === run.keeper?.ticks ? keeper.row.group : null
  return (row) => (row.pid === harness?.pid && row.ticks === harness.ticks) || (group !== null && row.group === group)
}
