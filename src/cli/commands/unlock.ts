import { unlockByHand, type World } from '../../app/index.ts'
import { exitCode } from '../../model/index.ts'
import { unlockedJson, unlockedText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { oneDirectory } from '../one-directory.ts'
import { flag, type Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'

export const unlock: Command = {
  name: 'unlock',
  group: 'directories',
  summary: 'give up a lock that was taken by hand',
  arguments: [{ name: 'D', thing: 'directory', about: 'the directory' }],
  options: [flag('force', "take away another holder's lock, and name the holder")],
  more: () => ({
    description: [
      'The holder gives up its lock, or a process that the holder started does so.',
      'A lock with nothing but a time can be given up by its user.',
      'The lock of a run ends with its process tree: --force takes it away only if the run cannot be judged.',
    ],
    examples: [
      ['unlock .', 'The lock of this shell on this directory ends.'],
      ['unlock data --force', "Another holder's lock ends, and the holder is named."],
    ],
    exits: {
      done: 'the directory is not locked by hand any more, or was not',
      notFound: 'no such directory',
      held: 'the lock belongs to another holder, or to a live run',
      unproven: 'whether its holder lives cannot be told',
    },
  }),
  run: unlockVerb,
}

async function unlockVerb(world: World, parsed: Parsed): Promise<number> {
  const dir = oneDirectory(parsed, 'unlock')
  const freed = await unlockByHand(world, dir, parsed.flags.has('force'))
  if (parsed.flags.has('json')) printJson(freed.map(unlockedJson))
  else print(freed.length === 0 ? [`${dir} is not locked`] : freed.map((one) => unlockedText(one, world.clock.now())))
  return exitCode.done
}
