import { resolveGone, resolveUnreadable, type World } from '../../app/index.ts'
import { exitCode, isLive, Problem } from '../../model/index.ts'
import type { Command } from '../command.ts'
import { flag, oneWord, type Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'

export const resolve: Command = {
  name: 'resolve',
  group: 'maintenance',
  rare: true,
  summary: 'testify that a session which cannot be judged is gone',
  forms: ['S --gone'],
  arguments: [{ name: 'S', thing: 'live-session', about: 'the session that cannot be proven gone (exit 76)' }],
  options: [flag('gone', 'your word that it is gone')],
  more: () => ({
    description: [
      'The run ends as lost, and the record names you.',
      'It is refused while any sign of life can be seen. Nothing is ever signalled.',
      'A run directory that no row has and that cannot be read is settled by the id of its run.',
    ],
    examples: [
      ['resolve api --gone', 'The session is free for its next run.'],
      ['status api', 'The status tells what could not be proven.'],
    ],
    exits: { done: 'the end was recorded', notFound: 'no such session, or it is not running', held: 'there is a sign of life' },
  }),
  run: resolveVerb,
}

async function resolveVerb(world: World, parsed: Parsed): Promise<number> {
  const reference = oneWord(parsed, 'resolve')
  if (!parsed.flags.has('gone'))
    throw new Problem('option-missing', 'resolve needs your word: --gone', { hint: `holdfast status ${reference} says what could not be proven` })
  await world.store('writer')
  const unread = resolveUnreadable(world, reference)
  if (unread !== null) {
    const reason = `it counts as gone; ${unread.path} is left for holdfast prune`
    if (parsed.flags.has('json')) printJson({ session: null, run: unread.run, state: 'lost', reason })
    else print([`${unread.run} lost: ${reason}`])
    return exitCode.done
  }
  const run = await resolveGone(world, reference)
  if (parsed.flags.has('json')) printJson({ session: run.session, run: run.id, state: run.state, reason: isLive(run) ? null : run.reason })
  else print([`${run.session} ${run.state}${isLive(run) ? '' : `: ${run.reason}`}`])
  return exitCode.done
}
