import { basename } from 'node:path'
import type { Refusal } from '../../model/index.ts'
import { isLive, Problem } from '../../model/index.ts'
import { recordInPassing } from '../world/best-effort-write.ts'
import type { World } from '../world/world.ts'
import type { Plan } from './plan.ts'
import type { StartRequest } from './request.ts'

/**
 * A start was refused because a live owner holds what it wanted: the holder's record says who came. In passing: it neither waits for
 * another writer, nor changes what the caller is told.
 */
export async function recordRefusal(
  world: Pick<World, 'clock' | 'host' | 'policy' | 'processes' | 'store' | 'user'>,
  request: StartRequest,
  plan: Plan | null,
  error: unknown,
): Promise<void> {
  if (!(error instanceof Problem) || error.kind !== 'held') return
  const asker = {
    pid: plan?.front?.keeper.pid ?? world.processes.self().pid,
    command: basename(plan?.request.argv[0] ?? request.harness ?? request.argv[0] ?? ''),
    user: `${world.user()}@${world.host}`,
  }
  // A worktree that is not made yet has no directory: the one that it would be made of is meant.
  const dir = plan?.unmade?.around.path ?? plan?.directory.path ?? request.dir ?? null
  const refusal: Refusal = { asker, wanted: wantedIn(error), dir, gapMs: world.policy.refusedEventMs }
  await recordInPassing()(async () => {
    const store = await world.store('reader')
    for (const session of holdersIn(error)) {
      const found = await store.sessions.find(session, 'exact')
      const run = found.kind === 'found' ? found.view.run : null
      if (run !== null && isLive(run)) await store.events.recordRefused(run, refusal, world.clock.now())
    }
    return true
  })
}

/** The sessions that it was refused because of. */
function holdersIn({ detail }: Problem): string[] {
  const { holder, sessions } = detail as { holder?: { session?: unknown }; sessions?: unknown }
  const named = [holder?.session, ...(Array.isArray(sessions) ? sessions : [])]
  return [...new Set(named.filter((one): one is string => typeof one === 'string'))]
}

function wantedIn({ detail: known }: Problem): Refusal['wanted'] {
  if ('nativeId' in known || 'conversation' in known) return 'conversation'
  return 'relation' in known ? 'directory' : 'session'
}
