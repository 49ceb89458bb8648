import { policy } from '../../../model/index.ts'
import type { World } from '../../world/world.ts'
import { claimDue } from './claim-due.ts'
import { settleFeedback } from './deliver.ts'
import { isAsSeen, seeRuns } from './facts.ts'
import { settle } from './settle.ts'
import { watch } from './watch.ts'
import { inNet, newPass, someAtATime, type WorkerMemory, type WorkPass } from './worker.ts'

/** So many requests are settled at the same time: ending a tree takes its grace. */
const AT_ONCE = 8

/**
 * One pass over everything that is due: what ended is settled, what stands still is ended, and what may run begins. It waits for nothing. Every
 * step fails by itself.
 */
export async function workPass(world: World, memory: WorkerMemory): Promise<WorkPass> {
  const pass = await newPass(world, memory)
  const { done } = pass
  const open = await pass.store.requests.list('open', policy.requestsShown)
  // Feedback of a start that failed is still on its way: without a look it would miss the next prompt.
  const active = open.filter(({ state, closing, pending }) => state !== 'queued' || closing !== null || pending > 0)
  await inNet(pass, null, 'look', async () => {
    const seen = await seeRuns(pass, active)
    await someAtATime(active, AT_ONCE, async (request) => {
      await inNet(pass, request.id, 'feedback', () => settleFeedback(pass, request, seen))
      await inNet(pass, request.id, 'settle', async () => {
        const now = await pass.store.requests.get(request.id)
        // Another worker has brought it further since its run was looked at: what was seen says nothing of that.
        if (now !== null && isAsSeen(now, request)) await settle(pass, now, seen)
      })
      await inNet(pass, request.id, 'watch', () => watch(pass, request, seen))
    })
    const live = new Set([...seen.values()].map((one) => one.live?.id))
    for (const run of memory.watched.keys()) if (!live.has(run)) memory.watched.delete(run)
  })
  await inNet(pass, null, 'claim', () => claimDue(pass))
  const now = await pass.store.requests.list('open', policy.requestsShown)
  for (const { state } of now) done.counts[state] = (done.counts[state] ?? 0) + 1
  return done
}
