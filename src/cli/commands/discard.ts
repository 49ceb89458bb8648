import { isatty } from 'node:tty'
import { discardWorktree, toDiscard, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import { discardedJson, discardedText, discardQuestion } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, oneWord, type Parsed } from '../options.ts'
import { print, printJson, say } from '../out.ts'
import { answerTo } from '../start/answer.ts'

export const discard: Command = {
  name: 'discard',
  group: 'start and end',
  summary: 'remove the worktree of a session, and keep its content',
  arguments: [{ name: 'S', thing: 'session', about: 'a session that worked in a worktree (run --worktree)' }],
  options: [flag('yes', 'do not ask')],
  more: () => ({
    description: [
      'Removes the worktree with whatever lies in it, and a branch that Holdfast made (holdfast/…).',
      'Commits, changes, new files and single ignored files are kept in a commit under refs/holdfast/discarded, which is named. Ignored folders are not.',
      'On a terminal it asks first. It is refused while anybody works in the worktree.',
    ],
    examples: [
      ['discard web', 'You are asked first, and then the worktree of session web goes.'],
      ['discard web --yes', 'The worktree is gone, and a ref keeps its content.'],
    ],
    exits: {
      done: 'the worktree is gone',
      badCommand: 'it was not confirmed',
      notFound: 'no such session, or it has no worktree',
      held: 'somebody works there, or it cannot be kept; nothing is changed',
    },
  }),
  run: discardVerb,
}

async function discardVerb(world: World, parsed: Parsed): Promise<number> {
  const reference = oneWord(parsed, 'discard')
  const asked = await toDiscard(world, reference)
  if (!parsed.flags.has('yes') && !confirmed(parsed, discardQuestion(asked), reference)) {
    say('nothing was discarded')
    return exitCode.badCommand
  }
  const discarded = await discardWorktree(world, asked)
  if (parsed.flags.has('json')) printJson(discardedJson(discarded))
  else print(discardedText(discarded))
  return exitCode.done
}

function confirmed(parsed: Parsed, question: string, reference: string): boolean {
  if (parsed.flags.has('json') || !isatty(0) || !isatty(2))
    throw new Problem('option-missing', 'discard asks on a terminal, and there is none', { hint: `holdfast discard ${reference} --yes` })
  return /^y(es)?$/i.test(answerTo(question))
}
