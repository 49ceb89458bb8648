import { type Listed, listSessions, strangersBeside, unreadableRuns, unreadableWithoutStore, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import {
  duplicateAdvice,
  duplicateText,
  ENDED_SHOWN,
  endedShown,
  endedShownText,
  managedJson,
  sessionsText,
  strangersText,
  unmanagedJson,
  unmanagedText,
  unreadableRunText,
  unreadableText,
} from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, noWords, type Parsed, value } from '../options.ts'
import { pageFor, paintFor, print, printJson, say } from '../out.ts'
import { lineCount } from '../values.ts'
import { watch } from '../watch.ts'
import { orWithoutStore, tellTrouble } from '../without-store.ts'

export const ls: Command = {
  name: 'ls',
  also: ['ps', 'list'],
  group: 'see',
  summary: 'list live sessions with state, directory, age and tokens',
  arguments: [],
  options: [
    flag('all', 'also list ended sessions, and agents that Holdfast did not start', 'a'),
    value('lines', 'N', 'text', `with --all, show the newest N ended sessions (${ENDED_SHOWN})`, 'n'),
    flag('unmanaged', 'list only agents that Holdfast did not start'),
    flag('watch', 'show the list again every second, until q'),
  ],
  more: () => ({
    description: [
      'Lists sessions as the operating system shows them now; an end that is proven is recorded.',
      'The state tells whether a live agent is busy, waiting for an answer, or idle, and since when.',
      'Two live owners of one conversation are flagged. Sessions that never started are counted, not listed; programs get all.',
      'Without a usable store the list comes from the run directories, and the exit code is 69.',
    ],
    examples: [
      ['ls', 'Live sessions are listed.'],
      ['ls --all', 'The newest ended sessions and unmanaged agents are listed too.'],
      ['ls --all -n 100', 'A hundred ended sessions are listed.'],
      ['ls --json', 'A program gets an array of sessions.'],
    ],
    exits: { done: 'the list was printed', unavailable: 'the store cannot be used; the list is from the run directories' },
  }),
  run: lsVerb,
}

async function lsVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'ls')
  const only = parsed.flags.has('unmanaged')
  const all = parsed.flags.has('all')
  const most = endedAsked(parsed)
  let degraded = false
  const look = async (): Promise<Listed> => {
    let listed: Listed | null = null
    const { views, trouble } = await orWithoutStore(world, async () => {
      listed = await listSessions(world, all ? 'all' : 'live', all || only)
      for (const run of listed.unreadable) say(unreadableText(run, world.runRecords.path(run)))
      for (const run of unreadableRuns(world)) say(unreadableRunText(run))
      return [...listed.sights]
    })
    degraded = trouble !== null
    if (trouble !== null) {
      const unmanagedUnknown = all || only ? ['which agents are not managed cannot be told without the store'] : []
      tellTrouble(parsed, trouble, [...unreadableWithoutStore(world).map(unreadableRunText), ...unmanagedUnknown])
    }
    return listed ?? { sights: views, unmanaged: [], duplicates: [], unreadable: [] }
  }
  const text = async (listed: Listed): Promise<string[]> => {
    const strangers = all || only || degraded ? 0 : await strangersBeside(world, listed.sights)
    return listText(world, listed, only, most, strangers)
  }
  if (parsed.flags.has('json')) {
    const { sights, unmanaged } = await look()
    // Sessions and other agents are never in one array: a reader of sessions does not know the others.
    printJson(only ? unmanaged.map(unmanagedJson) : sights.map(managedJson))
    return degraded ? exitCode.unavailable : 0
  }
  if (!parsed.flags.has('watch')) {
    const listed = await look()
    print(await text(listed))
    for (const duplicate of listed.duplicates) say(`${duplicateText(duplicate)}; ${duplicateAdvice(duplicate)}`)
    return degraded ? exitCode.unavailable : 0
  }
  const lines = async (): Promise<string[]> => {
    const listed = await look()
    return [...(await text(listed)), ...listed.duplicates.map(duplicateText)]
  }
  return watch(lines, (ms) => world.clock.sleep(ms))
}

/** How many ended sessions are shown. */
function endedAsked(parsed: Parsed): number {
  const lines = lineCount(parsed)
  if (lines !== undefined && !parsed.flags.has('all'))
    throw new Problem('option-misplaced', '--lines is for ended sessions, which --all lists', { hint: 'holdfast ls --all -n N' })
  return lines ?? ENDED_SHOWN
}

function listText(world: World, { sights, unmanaged }: Listed, only: boolean, most: number, strangers: number): string[] {
  const now = world.clock.now()
  const paint = paintFor(1)
  const page = pageFor(1)
  const others = unmanagedText(unmanaged, now, paint, page)
  if (only) return others
  const shown = endedShown(sights, most)
  const notes = [...endedShownText(shown, most), ...strangersText(strangers)].map(paint.dim)
  return [
    ...sessionsText(shown.sights, now, paint, page),
    ...(notes.length === 0 ? [] : ['', ...notes]),
    ...(unmanaged.length === 0 ? [] : ['', 'not managed by Holdfast:', ...others]),
  ]
}
