import { type RequestRun, usageLimit } from '../../../decide/index.ts'
import { policy, type WorkRequest } from '../../../model/index.ts'
import { endRequest } from './end-request.ts'
import { lastWordsOf } from './last-words.ts'
import { holdsOf, type Pass } from './worker.ts'

/** Whether its agent ended because its account came to a usage limit; then it pauses, or ends as the settings say. Null: it did not. */
export async function limitOf(pass: Pass, request: WorkRequest, run: RequestRun): Promise<'paused' | 'ended' | null> {
  const { world, store, config, done } = pass
  if (run.kind !== 'ended' || (run.run.state !== 'failed' && run.run.state !== 'completed')) return null
  const now = world.clock.now()
  const limit = usageLimit(lastWordsOf(world, run.run.id), now)
  if (limit === null) return null
  const until = limit.until ?? now + policy.limitGuessMs
  const words = `its agent came to its usage limit${limit.until === null ? '' : ` until ${new Date(until).toISOString()}`}`
  if (config.usageLimit === 'never') {
    const step = { kind: 'end', ending: { state: 'blocked', reason: 'usage-limit', by: 'agent' }, summary: null } as const
    await endRequest(pass, request, step, null)
    return 'ended'
  }
  // Those that wait for the same hour do not begin in the same second.
  const waiting = (await store.requests.list('open', policy.requestsShown)).filter(({ cause }) => cause === 'limit').length
  const dueAt = config.usageLimit === 'ask' ? null : until + waiting * policy.limitStaggerMs
  const summary = config.usageLimit === 'ask' ? `${words}; go on: holdfast work retry ${request.id}` : words
  done.changes.push(`${request.id} waits: ${words}`)
  await store.requests.recordPaused(holdsOf(request), { cause: 'limit', summary, dueAt }, now)
  return 'paused'
}
