import { prune as removeLeft, type World } from '../../app/index.ts'
import { exitCode } from '../../model/index.ts'
import { litterText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, noWords, type Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'

export const prune: Command = {
  name: 'prune',
  group: 'maintenance',
  summary: 'remove what ended runs and dead processes left on disk',
  arguments: [],
  options: [flag('dry-run', 'only list what would be removed')],
  more: () => ({
    description: [
      'Removes directories of old runs, pipes and plans of ended keepers, locks by hand of dead processes, empty cgroups and old records.',
      'Clean and unused worktrees of Holdfast go too.',
      'The last run of a session keeps its directory and its log. Anything that cannot be judged stays.',
    ],
    examples: [
      ['prune --dry-run', 'The leftovers are listed, and nothing is removed.'],
      ['prune', 'The leftovers are removed and listed.'],
    ],
    exits: { done: 'the list was printed' },
  }),
  run: pruneVerb,
}

async function pruneVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'prune')
  const dryRun = parsed.flags.has('dry-run')
  const found = await removeLeft(world, dryRun)
  if (parsed.flags.has('json')) printJson(found)
  else print(litterText(found, dryRun))
  return exitCode.done
}
