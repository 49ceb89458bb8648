import { agentsAmong } from '../harness/index.ts'
import type { Candidate, Run, Store } from '../model/index.ts'
import { isLive, sameProcess } from '../model/index.ts'
import { knownOf } from './harness.ts'
import { bind } from './native.ts'
import type { World } from './world.ts'

/** What a harness reports of itself: the parts of its payload that we believe. */
export type Report = { readonly harness: string; readonly event: string; readonly payload: Readonly<Record<string, unknown>> }

/**
 * A hook of a harness calls. Only the agent that the run is about may speak for it: one that its tools started, or that a shared daemon
 * runs with this run's environment, has another conversation. Answers what the agent shall be told; null: nothing.
 */
export async function hear(world: World, report: Report): Promise<string | null> {
  const id = world.env['HOLDFAST_RUN'] ?? ''
  const store = await world.store('writer')
  const run = await store.run(id)
  if (run === null || !isLive(run) || world.env['HOLDFAST_EPOCH'] !== String(run.epoch)) return null
  const native = nativeIn(report.payload)
  if (native === null || !(await isAbout(world, store, run, native))) return null
  if (report.event === 'session-end') {
    await store.recordTold(
      run,
      { harness: report.harness, id: native, event: 'session-end', reason: textOr(report.payload['reason']) },
      world.clock.now(),
    )
    return null
  }
  const answer = await bind(world, store, run, { harness: report.harness, id: native }, { how: 'hook' })
  if (answer.kind !== 'taken') return null
  const { session } = answer.by
  return `Holdfast: this conversation is that of session ${session} (pid ${world.files.harness(answer.by.id)?.pid ?? '?'}), which is alive: both would write to the same transcript. Tool calls are denied here. Leave this agent, and go on there: holdfast attach ${session}, or take it over: holdfast resume ${session} --takeover`
}

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{3,127}$/
const textOr = (value: unknown): string | null => (typeof value === 'string' ? value.slice(0, 200) : null)

function nativeIn(payload: Report['payload']): string | null {
  const value = payload['session_id'] ?? payload['sessionId'] ?? payload['sessionID']
  return typeof value === 'string' && ID.test(value) ? value : null
}

async function isAbout(world: World, store: Store, run: Run, native: string): Promise<boolean> {
  if (world.files.natives(run.id).some(({ id }) => id === native)) return true
  const { processes, files } = world
  const agent = files.harness(run.id)
  const known = await knownOf(world, store, run)
  if (agent === null || known === null) return false
  // Nearest first: the agent whose hook this is.
  const candidates = processes.origins().flatMap(({ pid, ticks }): Candidate[] => {
    const seen = processes.sample(pid)
    if (seen.kind !== 'seen' || seen.row.ticks !== ticks) return []
    return [{ row: seen.row, argv: processes.arguments(pid), exe: processes.exe(pid), cwd: processes.cwd(pid) }]
  })
  const agents = agentsAmong(candidates, [], world.ownHarnesses())
  const nearest = candidates.flatMap(({ row }) => agents.find((one) => sameProcess(one.row, row)) ?? [])[0]
  if (nearest === undefined) return candidates.some(({ row }) => sameProcess(row, agent))
  return [nearest.row, ...nearest.launchers].some((one) => sameProcess(one, agent))
}
