import { forgetSessions, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import { forgottenSessionText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, type Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'

export const rm: Command = {
  name: 'rm',
  also: ['remove', 'forget'],
  group: 'maintenance',
  summary: 'forget ended sessions; their names are free again',
  forms: ['[OPTION…] S…'],
  arguments: [{ name: 'S', thing: 'session', about: 'a session that is over; at least four characters of its id', many: true }],
  options: [flag('keep-worktree', 'leave its worktree where it is, with all that lies in it')],
  more: () => ({
    description: [
      'Removes the records, logs and run directories of sessions, and their clean worktrees. Branches with commits stay.',
      'Conversations of agents are not touched: resume finds them by their own ids.',
      'A session that may live is refused, and so is a worktree with work that is nowhere else. Nothing is removed then.',
    ],
    examples: [
      ['rm api', 'Session api is forgotten, and the next session can be called api.'],
      ['rm --keep-worktree fix', 'Session fix is forgotten, and its worktree stays.'],
    ],
    exits: {
      done: 'the sessions are forgotten',
      notFound: 'no such session',
      held: 'a session is live, or its worktree has work',
      unproven: 'a session cannot be proven gone',
    },
  }),
  run: rmVerb,
}

async function rmVerb(world: World, parsed: Parsed): Promise<number> {
  if (parsed.words.length === 0) throw new Problem('arguments-wrong', 'rm takes one or more sessions', { hint: 'holdfast ls --all lists them' })
  const forgotten = await forgetSessions(world, parsed.words, parsed.flags.has('keep-worktree'))
  if (parsed.flags.has('json')) printJson(forgotten)
  else print(forgotten.flatMap(forgottenSessionText))
  return exitCode.done
}
