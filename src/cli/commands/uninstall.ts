import { seeAll, shellFiles, uninstall as takeOut, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import { uninstalledText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { noWords, type Parsed } from '../options.ts'
import { pageFor, print, printJson } from '../out.ts'
import { orWithoutStore } from '../without-store.ts'

export const uninstall: Command = {
  name: 'uninstall',
  group: 'maintenance',
  summary: 'take hooks, service and completions out of the account',
  arguments: [],
  options: [],
  more: () => ({
    description: [
      'Takes the hooks out of the settings of agents, removes the service and completion scripts, and stops the daemon.',
      'Each of it can be installed again. Sessions, worktrees and configuration stay, and are named.',
      'Live sessions are not ended: with one, nothing is done.',
      'The command itself is removed by npm uninstall --global holdfast.',
    ],
    examples: [
      ['uninstall', 'Nothing of Holdfast is left outside its home but the command, and what is left is named.'],
      ['uninstall --json', 'A program gets the same as one object.'],
    ],
    exits: {
      done: 'hooks, service and completions are gone',
      held: 'a session is alive; nothing was done',
      unavailable: 'something could not be taken out, and was named',
    },
  }),
  run: uninstallVerb,
}

async function uninstallVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'uninstall')
  const { views } = await orWithoutStore(world, async () => (await seeAll(world, 'live')).sights)
  const live = views.filter(({ liveness }) => liveness !== 'dead').map(({ session }) => session.id)
  if (live.length > 0)
    throw new Problem(
      'uninstall-sessions-live',
      `nothing was done: ${live.length === 1 ? 'a session is' : `${live.length} sessions are`} alive (${named(live)})`,
      {
        hint: 'end them first: holdfast stop --all',
      },
    )
  const done = await takeOut(world, shellFiles(world.env))
  if (parsed.flags.has('json')) printJson(done)
  else print(uninstalledText(done, pageFor(1)))
  return done.trouble.length === 0 ? exitCode.done : exitCode.unavailable
}

const MOST_NAMED = 5
const named = (ids: readonly string[]): string => [...ids.slice(0, MOST_NAMED), ...(ids.length > MOST_NAMED ? ['…'] : [])].join(', ')
