import { hookedAgents, hooksStatus, installHooks, refuseWithoutHooks, uninstallHooks, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import { hookChangeText, hookStatesText } from '../../show/index.ts'
import type { Argument, Command } from '../command.ts'
import { noWords, type Parsed } from '../options.ts'
import { paintFor, print, printJson } from '../out.ts'

const HARNESS: Argument = {
  name: 'HARNESS',
  thing: 'hooked-agent',
  about: 'an agent that has hooks',
  many: true,
}

export const hooks: Command = {
  name: 'hooks',
  group: 'maintenance',
  summary: 'have an agent CLI report its session and ask before tool calls',
  arguments: [],
  options: [],
  subs: [
    {
      name: 'install',
      summary: 'add the hooks to the settings of these agents',
      arguments: [HARNESS],
      options: [],
      run: change('install', installHooks),
    },
    { name: 'uninstall', summary: 'take the hooks out again', arguments: [HARNESS], options: [], run: change('uninstall', uninstallHooks) },
    { name: 'ls', summary: 'list which agents have them', arguments: [], options: [], run: listVerb },
  ],
  more: () => ({
    description: [
      "Hooks report the session's true id, its prompts, turns and end, and deny the tool calls of an agent that was retired.",
      `Agents with hooks: ${hookedAgents().join(', ')}.`,
      'Outside a run of Holdfast they do nothing; an allowed tool call costs one or two milliseconds.',
      'Every other byte of a settings file stays, and uninstall restores the bytes of before.',
      'Codex runs hooks only after you trusted them: start codex once and choose "Trust all and continue".',
    ],
    examples: [
      ['hooks install claude codex', 'Claude Code and Codex report to Holdfast from now on.'],
      ['hooks ls', 'The list shows which agents have hooks and which are outdated.'],
    ],
    exits: {
      done: 'the settings are as asked, or the list was printed',
      badCommand: 'wrong words, an agent without hooks, or a settings file that is no JSON object',
      unavailable: 'a settings file cannot be read or written',
    },
  }),
}

function change(what: 'install' | 'uninstall', doIt: typeof installHooks) {
  return async (world: World, { words: harnesses, flags }: Parsed): Promise<number> => {
    if (harnesses.length === 0)
      throw new Problem('arguments-wrong', `hooks ${what} takes names of harnesses`, { hint: 'holdfast hooks ls lists those that have hooks' })
    refuseWithoutHooks(harnesses)
    const changes = harnesses.map((harness) => {
      const changed = doIt(world, harness)
      if (!flags.has('json')) print(hookChangeText(changed))
      return changed
    })
    if (flags.has('json')) printJson(changes)
    return exitCode.done
  }
}

async function listVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'hooks ls')
  const states = hooksStatus(world)
  if (parsed.flags.has('json')) printJson(states)
  else print(hookStatesText(states, paintFor(1)))
  return exitCode.done
}
