import { frontGone, frontMissing, nestedTooDeep, tmuxElsewhere, tmuxUnavailable } from './checks/caller.ts'
import type { Check, FactsAt, Moment } from './checks/check.ts'
import {
  agentMissing,
  agentUnknown,
  budgetUncounted,
  configInvalid,
  conversationMissing,
  promptUnfit,
  promptUnreadable,
  promptUnsupported,
  promptWithoutAgent,
  resumeUnsupported,
} from './checks/command.ts'
import {
  agentsBeside,
  conversationLeft,
  conversationNewest,
  conversationOwned,
  conversationUnknown,
  insideOwner,
  programMissing,
  terminalMissing,
} from './checks/look.ts'
import { branchInvalid, currentDirectoryGone, directoryUnusable, repositoryMissing } from './checks/place.ts'
import { commandMissing, dirEmpty, idInvalid, processesHidden } from './checks/request.ts'
import { conversationElsewhere, conversationsNamed, nameTaken, parentEnding, runUnreadable } from './checks/session.ts'
import type { Effect } from './look.ts'

type AnyCheck = { [M in Moment]: Check<M> }[Moment] | Check<Effect>

/** Every precondition of a start, in the order in which they are asked: of several that refuse, the first one is told. */
export const preflight: readonly AnyCheck[] = [
  // The request alone.
  commandMissing,
  idInvalid,
  dirEmpty,
  processesHidden,
  // The proven caller.
  tmuxUnavailable,
  tmuxElsewhere,
  frontMissing,
  nestedTooDeep,
  // The agent and the words of its command.
  configInvalid,
  promptWithoutAgent,
  agentUnknown,
  agentMissing,
  conversationMissing,
  resumeUnsupported,
  promptUnreadable,
  promptUnfit,
  promptUnsupported,
  budgetUncounted,
  // Runs that the store does not know.
  runUnreadable,
  // The session in the store. The claim's transaction asks these again.
  nameTaken,
  parentEnding,
  conversationElsewhere,
  conversationsNamed,
  // The directory.
  currentDirectoryGone,
  directoryUnusable,
  repositoryMissing,
  branchInvalid,
  // Before each step.
  frontGone,
  // Processes and programs: before anything is ended, and again right before the claim.
  terminalMissing,
  conversationUnknown,
  programMissing,
  conversationNewest,
  conversationOwned,
  agentsBeside,
  insideOwner,
  conversationLeft,
]

/** Asks the checks of a moment in their order. The first that refuses ends the start. */
export async function pass<M extends Moment>(moment: M, facts: FactsAt[M]): Promise<void> {
  for (const check of preflight) {
    const problem = isAt(check, moment) ? await check.check(facts) : null
    if (problem !== null) throw problem
  }
}

const isAt = <M extends Moment>(check: { readonly when: readonly Moment[] }, moment: M): check is Check<M> => check.when.includes(moment)
