import { reconcile as reconcileNow, type World } from '../../app/index.ts'
import { exitCode } from '../../model/index.ts'
import { changeText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { noWords, type Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'

export const reconcile: Command = {
  name: 'reconcile',
  group: 'maintenance',
  rare: true,
  summary: 'record proven ends and end leftovers now',
  arguments: [],
  options: [],
  more: () => ({
    description: [
      'Records ends, and ends leftovers, overdue runs and runs whose parent session is over.',
      'It also remembers members by identity and removes empty cgroups.',
      'The daemon does the same by itself.',
    ],
    examples: [
      ['reconcile', 'The record is brought in line with the running processes.'],
      ['reconcile --json', 'A program gets an array of changes.'],
    ],
    exits: { done: 'everything is in line', survivors: 'something could not be ended' },
  }),
  run: reconcileVerb,
}

async function reconcileVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'reconcile')
  const changes = await reconcileNow(world)
  if (parsed.flags.has('json')) printJson(changes)
  else print(changes.length === 0 ? ['nothing to do'] : changes.flatMap(changeText))
  return changes.some(({ survivors }) => survivors.length > 0) ? exitCode.survivors : exitCode.done
}
