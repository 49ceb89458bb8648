import { siblings as seeSiblings, type World } from '../../app/index.ts'
import { exitCode } from '../../model/index.ts'
import { siblingJson, siblingsText, unreadableText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, noWords, type Parsed, value } from '../options.ts'
import { paintFor, print, printJson, say } from '../out.ts'

export const siblings: Command = {
  name: 'siblings',
  group: 'together',
  summary: 'list the other live sessions, and what each says it is doing',
  arguments: [],
  options: [
    value('session', 'S', 'live-session', 'list the siblings of this session instead of your own'),
    flag('here', 'only those in the same repository or directory tree'),
  ],
  more: () => ({
    description: [
      'Lists every other live session of this home, from process truth at the moment of asking.',
      'Each has its own report, directory, branch, locks by hand, ports, age and tokens.',
      'A session that cannot be judged is listed as unknown. Tasks belong to their session and are not listed.',
      'Text shows the newest 50 and counts the others.',
    ],
    examples: [
      ['siblings --here', 'Other sessions in this repository are listed, those in other worktrees too.'],
      ['siblings --session api --json', 'A program gets the siblings of session api.'],
    ],
    exits: { done: 'the list was printed', notFound: 'no such session' },
  }),
  run: siblingsVerb,
}

async function siblingsVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'siblings')
  const found = await seeSiblings(world, { session: parsed.values.get('session'), here: parsed.flags.has('here') })
  for (const run of found.unreadable) say(unreadableText(run, world.runRecords.path(run)))
  if (parsed.flags.has('json')) printJson(found.siblings.map(siblingJson))
  else print(siblingsText(found, world.policy.siblingsShown, world.clock.now(), paintFor(1)))
  return exitCode.done
}
