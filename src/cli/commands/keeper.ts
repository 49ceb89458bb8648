import { isatty } from 'node:tty'
import { endAfterJoin, endAsked, endOf, endWithoutStore, finishRun, followRun, intentFor, leftInWorktree, type World } from '../../app/index.ts'
import { exitCode, type Intent, Problem } from '../../model/index.ts'
import { finishedText, leftText } from '../../show/index.ts'
import { type Command, internal } from '../command.ts'
import type { Parsed } from '../options.ts'
import { say } from '../out.ts'
import { tell } from '../start/join.ts'

/** Verbs that a keeper, its timer and the command in a pane call. */
export const keeperCommands: readonly Command[] = [
  internal('_finish', 'record the end of a run, for its keeper', finishVerb, ['RUN', 'CODE']),
  internal('_end', 'end a run, for its keeper or its timer', endVerb, ['RUN', 'WHY', 'SCOPE']),
  internal('_follow', 'look at the agent of a run, for its timer', followVerb, ['RUN', 'WHAT']),
  internal('_left', 'tell how a run stands, for a command that has left its pane', leftVerb, ['RUN', 'CODE']),
]

/** For the keeper: finish the run; tell a person at the terminal what they would want to know, and a script nothing: a run is transparent. */
async function finishVerb(world: World, { words: [run = '', code] }: Parsed): Promise<number> {
  const end = await orWithoutStore(world, run, null, () => finishRun(world, run, code === undefined ? null : Number(code)))
  if (typeof end === 'number') return end
  if (end !== null && !end.run.detached && isatty(2)) {
    for (const line of finishedText(end)) say(line)
    const left = end.kind === 'ended' ? await leftInWorktree(world, end.run) : null
    if (left !== null) say(leftText(left))
  }
  // Processes that were started in it may still be there; its keeper waits for the end of the run alone.
  return (await endOf(world, run)) === null ? 1 : 0
}

/** For the keeper (`_end RUN SIGNAL SCOPE`) and its timer (`_end RUN TIMEOUT`). */
async function endVerb(world: World, { words: [run = '', why = 'TERM', scope] }: Parsed): Promise<number> {
  const end = await orWithoutStore(world, run, intentFor(why), () => endAsked(world, run, why, scope ?? null))
  if (typeof end === 'number') return end
  return end.kind === 'ended' ? 0 : exitCode.survivors
}

/** A store that cannot be used must not let anything live on: kill first, record when possible. */
async function orWithoutStore<T>(world: World, run: string, intent: Intent | null, end: () => Promise<T>): Promise<T | number> {
  try {
    return await end()
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'unavailable') throw error
    return (await endWithoutStore(world, run, intent)) ? exitCode.unavailable : exitCode.survivors
  }
}

/** For a run's timer: a look at its agent; 0: there is more to look at later. */
async function followVerb(world: World, { words: [run = '', what = 'id'] }: Parsed): Promise<number> {
  return (await followRun(world, run, what)) ? 0 : 1
}

/** `code` is the code of the client that was left. */
async function leftVerb(world: World, { words: [id = '', code = '0'] }: Parsed): Promise<number> {
  return tell(await endAfterJoin(world, id), Number(code))
}
