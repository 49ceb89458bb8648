import { judgeDelivery } from '../../../decide/index.ts'
import { policy, type WorkRequest } from '../../../model/index.ts'
import type { SeenRuns } from './facts.ts'
import type { Pass } from './worker.ts'

/** Finds out what became of feedback that was on its way when a worker ended, or when its run began. */
export async function settleFeedback({ world, store }: Pass, request: WorkRequest, seen: SeenRuns, starting: boolean): Promise<void> {
  if (request.pending === 0) return
  const at = seen.get(request.id)
  for (const one of await store.feedback.list(request.id)) {
    const facts = { now: world.clock.now(), run: at?.run ?? ({ kind: 'none' } as const), epoch: at?.epoch ?? 0, starting, unread: null }
    const step = judgeDelivery(one, facts, { paneMs: policy.sendTurnMs })
    if (step.kind === 'record') await store.feedback.record(one.id, step.event, null, facts.now)
  }
}
