import type { Harness, LiveRun } from '../../../model/index.ts'
import { Problem } from '../../../model/index.ts'
import { holderOf } from '../../lock/refusal-message.ts'
import type { World } from '../../world/world.ts'

/** The conversation of a session cannot be named to its agent, because nobody knows it, or because the agent takes no name. */
export function unresumable(harness: Harness, session: string): Problem {
  const anew = `begin anew: holdfast run --session ${session} ${harness.name}`
  if (harness.speech.resume === null) return new Problem('resume-unsupported', `${harness.title} cannot resume a session by its id`, { hint: anew })
  const hooks = harness.hooks === null ? '' : `hooks tell it from the start: holdfast hooks install ${harness.name}; `
  return new Problem('conversation-unknown', `which ${harness.title} session ${session} carried is not known, so it cannot be resumed`, {
    hint: `name it: holdfast resume NATIVE-ID; ${hooks}or ${anew}`,
  })
}

/** The owner would be gone, and its conversation with it. */
export function takeoverBlind(world: Pick<World, 'clock' | 'evidence'>, harness: Harness, run: LiveRun): Problem {
  const { line, facts } = holderOf(world, run)
  const why =
    harness.speech.resume === null ? `${harness.title} cannot resume a session by its id` : `which ${harness.title} session it carries is not known`
  return new Problem('takeover-without-conversation', `session ${run.session} is held by ${line}, and a takeover could not go on with it: ${why}`, {
    hint: [
      ...(run.detached ? [`holdfast attach ${run.session}`] : []),
      `to begin anew in its place: holdfast run --session ${run.session} --takeover ${harness.name}`,
    ].join(' · '),
    detail: { holder: facts, why },
  })
}
