import { resumptionOf, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import type { Command } from '../command.ts'
import { flag, type Parsed } from '../options.ts'
import { say } from '../out.ts'
import { begin } from '../start/begin.ts'
import { CHOICES } from '../start/choices.ts'
import { whichOne } from '../start/choose.ts'
import { requestOf } from '../start/request.ts'

export const resume: Command = {
  name: 'resume',
  group: 'start and end',
  summary: 'continue a session in its directory, by any id it ever had',
  forms: ['[OPTION…] [S] [-- ARG…]', '[OPTION…] --last [-- ARG…]'],
  arguments: [{ name: 'S', thing: 'session', about: "an id or name of the session, also the agent's own, or the beginning of one", optional: true }],
  options: [...CHOICES, flag('last', 'take the newest session of this directory')],
  handlesConfigTrouble: true,
  isStart: true,
  more: () => ({
    description: [
      "Starts the next run of a session with the agent's own resume arguments, the earlier run's options for model, permissions and settings, and ARG.",
      'An agent session that Holdfast has never run is found on disk by its whole id.',
      'Without S the command lists sessions and, on a terminal, asks for one.',
      'On a terminal with a live owner it shows the owner and asks: attach, take over, or leave.',
      'For an unknown agent the same command runs again, or the one behind --.',
    ],
    examples: [
      ['resume api', 'The conversation of api continues; a live owner is named and refused.'],
      ['resume api --takeover', 'The live owner is ended with proof, and then the session continues.'],
      ['resume --last -- --model opus', 'The newest session of this directory continues with another model.'],
    ],
    exits: {
      done: 'the detached run was started, the pane was left, or the agent ended with 0',
      badCommand: 'wrong words, or no session was chosen',
      notFound: 'no such session, or its directory or program is gone',
      held: 'the session, its directory or its conversation has a live owner',
      unproven: 'the old owner cannot be proven dead, or a live agent may have the conversation; --force starts in your name',
      survivors: 'a takeover could not end every process of the old owner',
    },
    otherExits: "A foreground run gives the agent's own code, and 128 plus the signal's number after a signal.",
  }),
  run: resumeVerb,
}

/** The next run of a known session, in its directory. */
async function resumeVerb(world: World, parsed: Parsed): Promise<number> {
  const reference = await whichOne(world, parsed)
  if (reference === null) return exitCode.badCommand
  const ends = parsed.flags.has('takeover') || parsed.flags.has('force')
  const named = (): ReturnType<typeof resumptionOf> => resumptionOf(world, reference, parsed.command, { dir: parsed.values.get('dir'), ends })
  const { moved, ...resumption } = await named()
  if (moved !== undefined) say(`the conversation of session ${moved.from} has gone on as session ${moved.to}: that is the one which is resumed`)
  try {
    return await begin(world, parsed, requestOf(parsed, resumption))
  } catch (error) {
    // The owner that was waited for may have told its conversation when it ended.
    const after = error instanceof Problem && error.id === 'conversation-unknown' && parsed.values.has('wait') ? await named() : null
    if (after === null || after.resume?.native == null) throw error
    return begin(world, parsed, requestOf(parsed, after))
  }
}
