import { type ActivityState, isNativeId, type NativeId } from '../model/index.ts'

/** A hook's call, as far as its payload tells. `ids`: the conversations it names. `inner`: an agent inside the conversation calls. */
export type HookCall = { readonly harness: string; readonly ids: readonly string[]; readonly inner: boolean }

/** The conversations of a run. `refused`: those it went to although another live session has them. */
export type Conversations = { readonly natives: readonly NativeId[]; readonly refused: readonly NativeId[] }

/** The conversation that a hook is called in; null: it names none. */
export function nativeIn(payload: Readonly<Record<string, unknown>>): string | null {
  const value = payload['session_id'] ?? payload['sessionId'] ?? payload['sessionID']
  return typeof value === 'string' && isNativeId(value) ? value : null
}

/** Reads the outermost object only: the arguments of a tool can say `session_id`, too. */
export function hookCallFrom(harness: string, payload: Readonly<Record<string, unknown>>): HookCall {
  const ids = [payload['session_id'], payload['sessionId']].filter((id): id is string => typeof id === 'string' && id !== '')
  const { agent_id: agent } = payload
  return { harness, ids, inner: typeof agent === 'string' && agent !== '' }
}

/** Is it proven that the caller's conversation is none of the run's? Without an id on both sides it is not. */
export function isForeign({ harness, ids }: HookCall, { natives, refused }: Conversations): boolean {
  if (natives.length === 0 || ids.length === 0) return false
  const known = [...natives, ...refused].filter((native) => native.harness === harness)
  return known.length > 0 && !known.some(({ id }) => ids.includes(id))
}

/** Does an agent call that the run's agent has started, in its own conversation or with another one? */
export const isInner = (call: HookCall, of: Conversations): boolean => call.inner || isForeign(call, of)

/** Is the caller another agent than the run's? Once a conversation is known, only the harness of that one speaks for it. */
const isOther = (call: HookCall, of: Conversations): boolean =>
  of.natives.length > 0 && (!of.natives.some(({ harness }) => harness === call.harness) || isForeign(call, of))

/** The activity that follows from a call; null: it changes nothing. `asks`: the harness's notifications are questions. */
export function activityAfter(
  event: string,
  call: HookCall,
  of: Conversations,
  { state, asks }: { readonly state: ActivityState | null; readonly asks: boolean },
): ActivityState | null {
  if (isOther(call, of)) return null
  switch (event) {
    case 'before-tool':
      // A tool call inside the agent says nothing about the agent itself, but a question was answered.
      return state !== 'busy' && (state === 'waiting' || !isInner(call, of)) ? 'busy' : null
    case 'turn-end':
      return state !== 'idle' && !isInner(call, of) ? 'idle' : null
    case 'waiting':
      // After a turn no answer is needed: some harnesses also notify after a long silence. The same person answers an agent inside.
      return asks && state !== 'idle' && state !== 'waiting' ? 'waiting' : null
    default:
      return null
  }
}
