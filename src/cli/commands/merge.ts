import { mergeWorktree, type World } from '../../app/index.ts'
import { exitCode } from '../../model/index.ts'
import { mergedJson, mergedText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { oneWord, type Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'

export const merge: Command = {
  name: 'merge',
  group: 'start and end',
  summary: 'bring the branch of an ended session home from its worktree',
  arguments: [{ name: 'S', thing: 'session', about: 'a session that worked in a worktree (run --worktree)' }],
  options: [],
  more: () => ({
    description: [
      'Merges the branch of the session into the branch that the main working tree is on: fast-forward, or a merge commit.',
      'Files that nobody committed, the same lines changed on both sides, or somebody at work there are refused. A refusal changes nothing.',
      'The branch and the worktree stay.',
    ],
    examples: [
      ['merge web', 'The commits of session web are in the branch of the main working tree.'],
      ['merge web --json', 'A program reads how it was merged, and how much.'],
    ],
    exits: {
      done: 'the branch is merged, or was already',
      notFound: 'no such session, or it has no worktree',
      held: 'it was refused; nothing is changed',
    },
  }),
  run: mergeVerb,
}

async function mergeVerb(world: World, parsed: Parsed): Promise<number> {
  const merged = await mergeWorktree(world, oneWord(parsed, 'merge'))
  if (parsed.flags.has('json')) printJson(mergedJson(merged))
  else print(mergedText(merged))
  return exitCode.done
}
