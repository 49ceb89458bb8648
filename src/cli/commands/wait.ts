import { codeOf, leftInWorktree, type World, waitForEnd } from '../../app/index.ts'
import { Problem } from '../../model/index.ts'
import { leftText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { type Parsed, value } from '../options.ts'
import { print, printJson, say } from '../out.ts'
import { duration } from '../values.ts'

export const wait: Command = {
  name: 'wait',
  group: 'start and end',
  summary: 'wait for the end of a session, and give its exit code',
  arguments: [{ name: 'S', thing: 'session', about: 'the session' }],
  options: [value('timeout', 'DURATION', 'text', 'wait no longer than this')],
  more: () => ({
    description: [
      'Waits for the end of the run that is the newest one now.',
      'The command then prints how it ended and gives the exit code of the agent.',
    ],
    examples: [
      ['wait review', 'The command ends when session review has ended.'],
      ['wait review --timeout 10m', 'After ten minutes the command gives 75 and the session goes on.'],
    ],
    exits: { done: 'the agent ended with 0', notFound: 'no such session', held: 'the session was still running when the time was over' },
    otherExits: "Otherwise the agent's own code, 128 plus the signal's number, or 1 if its end is not known.",
  }),
  run: waitVerb,
}

async function waitVerb(world: World, parsed: Parsed): Promise<number> {
  const [reference, ...more] = parsed.words
  if (reference === undefined || more.length > 0) throw new Problem('arguments-wrong', 'wait takes one session')
  const run = await waitForEnd(world, reference, duration(parsed, 'timeout') ?? null)
  if (run === null) throw new Problem('session-still-running', `${reference} is still running`)
  if (parsed.flags.has('json')) printJson({ session: run.session, run: run.id, state: run.state, exit: run.exit, reason: run.reason })
  else {
    print([`${run.session} ${run.state}: ${run.reason}`])
    const left = await leftInWorktree(world, run)
    if (left !== null) say(leftText(left))
  }
  return codeOf(run)
}
