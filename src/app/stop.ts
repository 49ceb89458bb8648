import { censusOf, endRun, type RunEnd, untilKeeperLeft } from '../act/index.ts'
import type { Intent, LiveRun, Run, Store } from '../model/index.ts'
import { isLive } from '../model/index.ts'
import { findSession } from './see.ts'
import { stopFromOutside } from './stopper.ts'
import type { World } from './world.ts'

export type StopRequest = { readonly references: readonly string[]; readonly all?: boolean; readonly graceMs?: number; readonly reason?: string }
export type Stopped = {
  readonly session: string
  readonly end: RunEnd | { kind: 'not-running'; run: Run | null } | { kind: 'handed-over'; pid: number; run: LiveRun }
}

/** Ends sessions with all they started, and proves it. What has ended already is fine as it is. */
export async function stop(world: World, request: StopRequest): Promise<Stopped[]> {
  const store = await world.store('writer')
  const views =
    request.all === true
      ? (await store.snapshot('live', world.policy.sessionsShown)).views
      : await Promise.all(request.references.map((reference) => findSession(store, reference)))
  const by = `${world.user()}@${world.host}`
  const intent: Intent = { end: 'stopped', by, reason: request.reason ?? `stopped by ${by}` }
  return Promise.all(
    views.map(async ({ session, run }): Promise<Stopped> => {
      if (run === null || !isLive(run)) return { session: session.id, end: { kind: 'not-running', run } }
      if (isInside(world, run))
        return { session: session.id, end: { kind: 'handed-over', pid: await stopFromOutside(world, session.id, request.graceMs), run } }
      return { session: session.id, end: await retire(world, store, run, intent, request.graceMs ?? world.policy.graceMs) }
    }),
  )
}

/** A run with the runs that were started in it. Children go first, so that none is left if we are cut short. */
export async function retire(world: World, store: Store, run: LiveRun, intent: Intent, graceMs: number, depth = 0): Promise<RunEnd> {
  if (depth < world.policy.nestingDepth) {
    for (const child of await store.children(run.id)) {
      const end = await retire(
        world,
        store,
        child,
        { ...intent, reason: `its parent session ${run.session} ended: ${intent.reason}` },
        graceMs,
        depth + 1,
      )
      if (end.kind === 'survivors' || end.kind === 'unknown') return end
    }
  }
  const end = await endRun(run, { ...world, store }, { intent, graceMs })
  if (end.kind === 'ended') await untilKeeperLeft(end.run, world)
  return end
}

/** Is this very command part of the tree? Then somebody outside has to end it. */
function isInside(world: World, run: LiveRun): boolean {
  const self = world.processes.self()
  return censusOf(run, world, false).members.some(({ row }) => row.pid === self.pid && row.ticks === self.ticks)
}
