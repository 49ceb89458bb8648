import { seeLocks, type World } from '../../app/index.ts'
import { exitCode } from '../../model/index.ts'
import { lockJson, locksText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { noWords, type Parsed } from '../options.ts'
import { paintFor, print, printJson } from '../out.ts'

export const locks: Command = {
  name: 'locks',
  group: 'directories',
  summary: 'list the directories in use, their holders and the proof',
  arguments: [],
  options: [],
  more: () => ({
    description: [
      'Lists directory, holder, pid, kind (run, process or time), age, reason and proof.',
      'A lock that others share, and neighbours in other worktrees of the repository, are shown with it.',
    ],
    examples: [
      ['locks', 'Every held directory is listed.'],
      ['locks --json', 'A program gets an array of locks.'],
    ],
    exits: { done: 'the list was printed' },
  }),
  run: locksVerb,
}

async function locksVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'locks')
  const locks = await seeLocks(world)
  if (parsed.flags.has('json')) printJson(locks.map(lockJson))
  else print(locksText(locks, world.clock.now(), paintFor(1)))
  return exitCode.done
}
