import type { Harness, Run, Session } from '../../model/index.ts'
import { isLive, totalTokens } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import type { Plan } from './plan.ts'

/** The conversation that a start would put a new one in the place of; null: there is none, or the start goes on with it. */
export function conversationLeft({ world, request, spoken }: Plan, known: Session | null, last: Run | null): string | null {
  if (known === null || known.native === null || request.adopt !== undefined) return null
  if (spoken.native === known.native && spoken.harness?.name === known.harness) return null
  const harness = world.harnesses().find(({ name }) => name === known.harness)
  // Nothing is lost of one that never began.
  const isBegun = harness === undefined || harness.sessions === null || isOnDisk(world, harness, known.native) || hasSpoken(last)
  return isBegun ? known.native : null
}

/** Does the command line itself say which conversation it goes on with? */
export const choosesAnother = ({ spoken }: Pick<Plan, 'spoken'>): boolean => spoken.resumes || spoken.continues

export const isOnDisk = (world: Pick<World, 'env' | 'readDatabase'>, { sessions }: Harness, native: string): boolean =>
  sessions !== null && sessions.find(world.env, native, world.readDatabase) !== null

/** Its agent has used tokens, so there was a conversation, wherever it lies now. */
export const hasSpoken = (run: Run | null): boolean => {
  const tokens = run === null || isLive(run) ? null : (run.usage?.tokens ?? null)
  return tokens !== null && totalTokens(tokens) > 0
}
