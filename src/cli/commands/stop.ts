import {
  endSuspects,
  leftInWorktree,
  type Stopped,
  type StoppedWithoutStore,
  stop as stopSessions,
  stopWithoutStore,
  unreadableRuns,
  unreadableWithoutStore,
  type World,
  waitForEnd,
} from '../../app/index.ts'
import { exitCode, isSignallable, Problem } from '../../model/index.ts'
import { leftText, stoppedJson, stoppedText, type UnreadableRun, unreadableRunText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, type Parsed, value } from '../options.ts'
import { print, printJson, say } from '../out.ts'
import { duration } from '../values.ts'
import { tellTrouble } from '../without-store.ts'

export const stop: Command = {
  name: 'stop',
  also: ['kill'],
  group: 'start and end',
  summary: 'end the whole process tree of sessions, and prove it gone',
  forms: ['[OPTION…] S…', '[OPTION…] --all', '[OPTION…] --suspect PID…'],
  arguments: [{ name: 'S', thing: 'live-session', about: 'a session; at least four characters of its id', many: true }],
  options: [
    flag('all', 'end every live session of this home', 'a'),
    value('grace', 'DURATION', 'text', 'time between TERM and KILL (10s)'),
    flag('suspect', 'end processes that only look related, by pid; tree --suspects lists them'),
    { ...flag('outside', 'this command was sent by one inside the session'), hidden: true },
  ],
  more: () => ({
    description: [
      'Ends a session with all it started, the runs inside it included.',
      'Processes get TERM, and KILL after a grace that lasts only as long as they use it.',
      'Exit code 0 means that the whole tree was seen gone; otherwise the survivors are named.',
      'With --suspect it ends only the named processes, if they are suspects at that moment, and nothing that they started.',
      'Without a usable store it works from the run directories; reconcile records the end later.',
    ],
    examples: [
      ['stop api', 'The agent of api and everything it started end.'],
      ['stop --all --grace 2s', 'Every live session ends, with two seconds to do so.'],
      ['stop --suspect 4711', 'A process that tree --suspects listed ends on your word.'],
    ],
    exits: {
      done: 'every tree was seen gone',
      notFound: 'no such session, or the pid is no suspect',
      unproven: 'a tree cannot be proven gone',
      survivors: 'processes survived; they are named',
    },
  }),
  run: stopVerb,
}

async function stopVerb(world: World, parsed: Parsed): Promise<number> {
  if (parsed.flags.has('suspect')) return stopSuspects(world, parsed)
  const all = parsed.flags.has('all')
  if (all === parsed.words.length > 0) throw new Problem('arguments-wrong', 'stop takes sessions, or --all')
  const graceMs = duration(parsed, 'grace')
  let stopped: Stopped[]
  try {
    stopped = await stopSessions(world, {
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
  else
    for (const { session, end } of stopped) {
      const left = end.kind === 'ended' ? await leftInWorktree(world, end.run) : null
      print([...stoppedText(session, end), ...(left === null ? [] : [`  ${leftText(left)}`])])
    }
  if (all && stopped.length === 0 && !parsed.flags.has('json')) say('nothing runs')
  for (const { end } of stopped) if (end.kind === 'handed-over') await waitForEnd(world, end.run.session, world.policy.graceMs + world.policy.killMs)
  const left = all ? sayUnreadable(unreadableRuns(world)) : exitCode.done
  return Math.max(left, ...stopped.map(({ end }) => codeOfEnd(end)))
}

const SUSPECTS_LISTED = 'holdfast tree S --suspects lists them'

/** Only the named processes end, on the word of the caller. */
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

const LATER = 'the store cannot be used; holdfast reconcile records it later'
const UNNOTED = 'nothing can be written in the home, so it is on record as stopped only if its keeper can write there, and else as failed or lost'

/** Whether all is stopped cannot be told as long as there are such runs. */
function sayUnreadable(runs: readonly UnreadableRun[]): number {
  for (const run of runs) say(unreadableRunText(run))
  return runs.length === 0 ? exitCode.done : exitCode.unproven
}

async function stopDegraded(world: World, parsed: Parsed, all: boolean, graceMs: number | undefined, trouble: Problem): Promise<number> {
  const isJson = parsed.flags.has('json')
  if (!isJson) say(trouble.message)
  const ends = await stopWithoutStore(world, parsed.words, { all, graceMs: graceMs ?? world.policy.graceMs, trouble })
  const unreadable = all ? unreadableWithoutStore(world) : []
  const notes = [...ends.flatMap(notesOn), ...unreadable.map(unreadableRunText)]
  if (isJson) {
    tellTrouble(parsed, trouble, notes)
    printJson(ends)
  } else for (const note of notes) say(note)
  if (ends.some((end) => end.survivors.length > 0)) return exitCode.survivors
  return unreadable.length > 0 || ends.some((end) => end.unproven !== null) ? exitCode.unproven : exitCode.done
}

const notesOn = ({ session, pids, survivors, unproven, noted }: StoppedWithoutStore): string[] => [
  ...(pids.length === 0
    ? []
    : [
        `${session}: ended ${pids.length} ${pids.length === 1 ? 'process' : 'processes'} (${pids.join(', ')}), not recorded: ${noted ? LATER : UNNOTED}`,
      ]),
  ...survivors.map(({ pid, name, why }) => `  survivor pid ${pid} (${name}): ${why}`),
  ...(unproven === null ? [] : [`  ${session} cannot be proven gone: ${unproven}`]),
]
