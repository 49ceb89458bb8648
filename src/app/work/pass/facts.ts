import { judge, type RequestFacts, type RequestRun } from '../../../decide/index.ts'
import { isLive, type LiveRun, type Run, sameProcess, type WorkRequest } from '../../../model/index.ts'
import { carryOut } from '../../end/reconcile.ts'
import { survey } from '../../end/survey.ts'
import type { World } from '../../world/world.ts'
import { inNet, type Pass } from './worker.ts'

/** The runs of requests as they were just seen, by request. */
export type SeenRuns = ReadonlyMap<string, SeenRun>
type SeenRun = { readonly run: RequestRun; readonly live: LiveRun | null; readonly epoch: number; readonly claimant: Life }
type Life = 'alive' | 'gone' | 'unknown'

const NOT_SEEN = 'it could not be looked at in this pass'

/** One look at all of them together. A run that is over is finished first, leftovers included. */
export async function seeRuns(pass: Pass, requests: readonly WorkRequest[]): Promise<SeenRuns> {
  const { world, store } = pass
  const found = new Map<string, { run: Run | null; epoch: number; claimant: Life }>()
  // The worker that took it is judged before its run is looked for: the last act of one that is gone is seen.
  for (const request of requests) found.set(request.id, { claimant: claimantOf(world, request), ...(await newestRun(pass, request)) })
  const live = [...found.values()].flatMap(({ run }) => (run !== null && isLive(run) ? [run.id] : []))
  const judged = new Map<string, { kind: 'alive' | 'unknown' | 'over'; why: string | null }>()
  if (live.length > 0) {
    const seen = await survey(world, store, { only: live, thorough: false, patienceMs: 0 })
    for (const { run, error } of seen.sick) judged.set(run, { kind: 'unknown', why: error instanceof Error ? error.message : String(error) })
    await Promise.all(
      seen.due.map(async (due) => {
        const { kind } = due.judged
        const why = 'why' in due.judged ? due.judged.why : null
        judged.set(due.run.id, { kind: kind === 'alive' || kind === 'starting' ? 'alive' : 'unknown', why })
        if (due.want !== null) await inNet(pass, null, `end of run ${due.run.id}`, () => carryOut(world, store, due))
      }),
    )
  }
  const result = new Map<string, SeenRun>()
  for (const [id, { run, epoch, claimant }] of found) {
    const now = run === null ? null : ((await store.runs.get(run.id)) ?? run)
    if (now === null) result.set(id, { run: { kind: 'none' }, live: null, epoch, claimant })
    else if (!isLive(now)) result.set(id, { run: { kind: 'ended', run: now }, live: null, epoch, claimant })
    else {
      const verdict = judged.get(now.id) ?? { kind: 'unknown', why: NOT_SEEN }
      result.set(id, {
        run: { kind: 'live', id: now.id, liveness: verdict.kind === 'alive' ? 'alive' : 'unknown', why: verdict.why },
        live: now,
        epoch,
        claimant,
      })
    }
  }
  return result
}

/** A run with a later epoch than that of the claim belongs to the claim. */
async function newestRun({ store }: Pass, { session, seenEpoch }: WorkRequest): Promise<{ run: Run | null; epoch: number }> {
  const found = await store.sessions.find(session, 'exact')
  if (found.kind !== 'found') return { run: null, epoch: 0 }
  const { run } = found.view
  return { run: run !== null && run.epoch > seenEpoch ? run : null, epoch: found.view.session.epoch }
}

/** A worker looks only while it starts nothing, so a claim of its own is one that it could not carry out. */
function claimantOf({ processes }: Pick<World, 'processes'>, { claimant }: WorkRequest): Life {
  if (claimant === null || sameProcess(claimant.process, processes.self())) return 'gone'
  return judge(processes, claimant.place, claimant.process).kind
}

/** Still in the same hands and at the same step. */
export const isAsSeen = (now: WorkRequest, seen: WorkRequest): boolean => now.token === seen.token && now.state === seen.state && now.run === seen.run

export async function factsOf(pass: Pass, request: WorkRequest, seen: SeenRuns): Promise<RequestFacts> {
  const { world, store } = pass
  const after = await Promise.all(request.order.after.map(async (id) => ({ id, state: (await store.requests.get(id))?.state ?? null })))
  return {
    now: world.clock.now(),
    run: seen.get(request.id)?.run ?? { kind: 'none' },
    claimant: seen.get(request.id)?.claimant ?? 'unknown',
    branch: null,
    after,
  }
}
