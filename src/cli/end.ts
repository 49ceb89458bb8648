import { isatty } from 'node:tty'
import {
  codeOf,
  endAsked,
  endOf,
  endSuspects,
  endWithoutStore,
  finishRun,
  followRun,
  intentFor,
  type Stopped,
  stop,
  stopWithoutStore,
  type World,
  waitForEnd,
} from '../app/index.ts'
import { exitCode, type Intent, isSignallable, Problem } from '../model/index.ts'
import { finishedText, stoppedJson, stoppedText } from '../show/index.ts'
import type { Parsed } from './options.ts'
import { print, printJson, say } from './out.ts'
import { duration } from './start.ts'

export async function stopVerb(world: World, parsed: Parsed): Promise<number> {
  if (parsed.flags.has('suspect')) return stopSuspects(world, parsed)
  const all = parsed.flags.has('all')
  if (all === parsed.words.length > 0) throw new Problem('arguments-wrong', 'stop takes sessions, or --all')
  const graceMs = duration(parsed, 'grace')
  let stopped: Stopped[]
  try {
    stopped = await stop(world, {
      references: parsed.words,
      all,
      outside: parsed.flags.has('outside'),
      ...(graceMs === undefined ? {} : { graceMs }),
    })
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'unavailable') throw error
    return stopDegraded(world, parsed, all, graceMs, error)
  }
  if (parsed.flags.has('json')) printJson(stopped.map(({ session, end }) => stoppedJson(session, end)))
  else print(stopped.flatMap(({ session, end }) => stoppedText(session, end)))
  if (all && stopped.length === 0 && !parsed.flags.has('json')) say('nothing runs')
  for (const { end } of stopped) if (end.kind === 'handed-over') await waitForEnd(world, end.run.session, world.policy.graceMs + world.policy.killMs)
  return Math.max(0, ...stopped.map(({ end }) => codeOfEnd(end)))
}

const SUSPECTS_LISTED = 'holdfast tree S --suspects lists them'

/** `stop --suspect PID…`: on the caller's word, and only those. */
async function stopSuspects(world: World, parsed: Parsed): Promise<number> {
  if (parsed.flags.has('all') || parsed.words.length === 0)
    throw new Problem('arguments-wrong', 'stop --suspect takes the pids of suspects', { hint: SUSPECTS_LISTED })
  const wrong = parsed.words.find((word) => !/^\d{1,7}$/.test(word) || !isSignallable(Number(word)))
  if (wrong !== undefined) throw new Problem('pid-invalid', `${JSON.stringify(wrong)} is no pid that may be signalled`, { hint: SUSPECTS_LISTED })
  const ended = await endSuspects(world, [...new Set(parsed.words.map(Number))], duration(parsed, 'grace') ?? world.policy.graceMs)
  if (parsed.flags.has('json')) printJson(ended)
  else print(ended.map(({ pid, name, session, result }) => `${name} (pid ${pid}), a suspect of ${session}: ${WORDS[result]}`))
  return ended.every(({ result }) => result === 'ended') ? exitCode.done : exitCode.survivors
}
const WORDS = { ended: 'ended, seen gone', survives: 'did not end', denied: 'may not be signalled by you' }

const codeOfEnd = (end: Stopped['end']): number => {
  if (end.kind === 'survivors') return exitCode.survivors
  if (end.kind === 'unknown') return exitCode.unproven
  return end.kind === 'alive' ? exitCode.survivors : exitCode.done
}

async function stopDegraded(world: World, parsed: Parsed, all: boolean, graceMs: number | undefined, cause: Problem): Promise<number> {
  say(cause.message)
  const ends = await stopWithoutStore(world, parsed.words, all, graceMs ?? world.policy.graceMs)
  if (parsed.flags.has('json')) printJson(ends)
  for (const { session, pids, survivors, unproven } of ends) {
    if (pids.length > 0)
      say(
        `${session}: ended ${pids.length} ${pids.length === 1 ? 'process' : 'processes'} (${pids.join(', ')}), not recorded: the store cannot be used; holdfast reconcile records it later`,
      )
    for (const { pid, name, why } of survivors) say(`  survivor pid ${pid} (${name}): ${why}`)
    if (unproven !== null) say(`  ${session} cannot be proven gone: ${unproven}`)
  }
  if (ends.some((end) => end.survivors.length > 0)) return exitCode.survivors
  return ends.some((end) => end.unproven !== null) ? exitCode.unproven : exitCode.done
}

export async function waitVerb(world: World, parsed: Parsed): Promise<number> {
  const [reference, ...more] = parsed.words
  if (reference === undefined || more.length > 0) throw new Problem('arguments-wrong', 'wait takes one session')
  const run = await waitForEnd(world, reference, duration(parsed, 'timeout') ?? null)
  if (run === null) throw new Problem('session-still-running', `${reference} is still running`)
  if (parsed.flags.has('json')) printJson({ session: run.session, run: run.id, state: run.state, exit: run.exit, reason: run.reason })
  else print([`${run.session} ${run.state}: ${run.reason}`])
  return codeOf(run)
}

/** For the keeper: finish the run; tell a person at the terminal what they would want to know, and a script nothing: a run is transparent. */
export async function finishVerb(world: World, { words: [run = '', code] }: Parsed): Promise<number> {
  const end = await orWithoutStore(world, run, null, () => finishRun(world, run, code === undefined ? null : Number(code)))
  if (typeof end === 'number') return end
  if (end !== null && !end.run.detached && isatty(2)) for (const line of finishedText(end)) say(line)
  // What was started in it may still be there; its own end is what its keeper waits for.
  return (await endOf(world, run)) === null ? 1 : 0
}

/** For the keeper (`_end RUN SIGNAL SCOPE`) and its timer (`_end RUN TIMEOUT`). */
export async function endVerb(world: World, { words: [run = '', why = 'TERM', scope] }: Parsed): Promise<number> {
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
export async function followVerb(world: World, { words: [run = '', what = 'id'] }: Parsed): Promise<number> {
  return (await followRun(world, run, what)) ? 0 : 1
}
