import { judgeDelivery } from '../../../decide/index.ts'
import { policy, type WorkRequest } from '../../../model/index.ts'
import { isAsSeen, type SeenRuns } from './facts.ts'
import type { Pass } from './worker.ts'

/** Finds out what became of feedback that was on its way when a worker ended, or when its run began. */
export async function settleFeedback({ world, store }: Pass, request: WorkRequest, seen: SeenRuns): Promise<void> {
  if (request.pending === 0) return
  const at = seen.get(request.id)
  const starting = request.state === 'claimed' && at?.claimant !== 'gone'
  const all = await store.feedback.list(request.id)
  // Another worker may have begun a start with it meanwhile.
  const now = await store.requests.get(request.id)
  if (now === null || !isAsSeen(now, request)) return
  for (const one of all) {
    const facts = { now: world.clock.now(), run: at?.run ?? ({ kind: 'none' } as const), epoch: at?.epoch ?? 0, starting, unread: null }
    const step = judgeDelivery(one, facts, { paneMs: policy.sendTurnMs })
    if (step.kind === 'record') await store.feedback.record(one.id, step.event, null, facts.now)
  }
}
