import { endRun, endWhatIsLeft, type RunEnd } from '../act/index.ts'
import type { Intent } from '../model/index.ts'
import { isLive, Problem } from '../model/index.ts'
import { housekeep } from './reconcile.ts'
import type { World } from './world.ts'

/** What a keeper has Node do when its harness is gone: end the leftovers and the runs started in it, verify, record. */
export async function finishRun(world: World, id: string): Promise<RunEnd | null> {
  const store = await world.store('writer')
  const run = await store.run(id)
  if (run === null) return null
  const how = { intent: null, graceMs: world.policy.graceMs }
  const end = await (isLive(run) ? endRun(run, { ...world, store }, how) : endWhatIsLeft(run, { ...world, store }, how))
  world.files.capLog(id)
  if (world.clock.random() * world.policy.housekeepingOdds < 1) await housekeep(world, store)
  return end
}

/** The command itself was told to end, or its time is over. The agent has heard TERM already when `why` is TERM. */
export async function endAsked(world: World, id: string, why: string): Promise<RunEnd> {
  const store = await world.store('writer')
  const run = await store.run(id)
  if (run === null) throw new Problem('noSuchSession', `no such run: ${id}`)
  if (!isLive(run)) return { kind: 'ended', run, ended: [], unrecorded: null }
  const intent: Intent =
    why === 'TIMEOUT'
      ? { end: 'stopped', by: 'timeout', reason: 'its time was over (--timeout)' }
      : { end: 'stopped', by: `SIG${why}`, reason: `the holdfast command received SIG${why}` }
  return endRun(run, { ...world, store }, { intent, graceMs: world.policy.graceMs, told: why === 'TERM' ? world.files.harness(id) : null })
}
