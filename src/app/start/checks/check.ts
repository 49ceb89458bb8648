import { type ClaimAnswer, Problem } from '../../../model/index.ts'
import type { Effect, Look } from '../look.ts'
import type { Asked, Called, Known, Placed, Plan, Worded } from '../plan.ts'

/** The facts that are known at each moment of a start. The first five moments come once, in this order; the others before each step. */
export type FactsAt = {
  /** Only the request. */
  readonly request: Asked
  /** The proven caller. */
  readonly caller: Called
  /** The agent and the words of its command. */
  readonly command: Worded
  /** The session, as the store knows it. */
  readonly session: Known
  /** The directory. */
  readonly place: Placed
  /** Before each look at the session and its directory. */
  readonly step: Plan
} & {
  /** After a look, before its effect: an owner is ended, the remains of an earlier run are ended, the session is claimed. */
  readonly [E in Effect]: Look
}
export type Moment = keyof FactsAt

/** Why a claim's transaction answers that it lost. */
export type Lost = Extract<ClaimAnswer, { kind: 'lost' }>['why']

/** A precondition of a start: it answers why the start is refused, or null. It changes nothing. */
export type Check<M extends Moment> = {
  readonly name: string
  readonly when: readonly M[]
  /** The claim's transaction asks the same again, and answers it with this word. */
  readonly again?: Lost
  readonly check: (facts: FactsAt[M]) => Problem | null | Promise<Problem | null>
}

/** A fact that a check has let pass. Otherwise it is a bug of the list. */
export function checked<T>(fact: T | Problem | null): T {
  if (fact === null || fact instanceof Problem) throw new Error('no check of the preflight refused it', { cause: fact })
  return fact
}
