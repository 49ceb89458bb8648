import { join } from 'node:path'
import { daemonStatus, startDaemon, stopDaemon, type World } from '../../app/index.ts'
import type { StartedBy } from '../../model/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import { daemonJson, daemonText, isWell, versionText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { noWords, type Parsed, value } from '../options.ts'
import { paintFor, print, printJson, say } from '../out.ts'

declare const HOLDFAST_VERSION: string

/** The daemon is a bundle of its own: no other verb pays for it, nor do those that only speak with it. */
type Bundle = {
  runDaemon(options: { readonly assets: string; readonly home: string; readonly version: string; readonly startedBy: StartedBy }): Promise<number>
}

const BY = value('by', 'STARTER', ['run', 'start', 'service'], 'record what started it; for a service unit: service')

export const daemon: Command = {
  name: 'daemon',
  group: 'maintenance',
  summary: 'have reconcile, prune and notifications happen by themselves',
  arguments: [],
  options: [],
  subs: [
    { name: 'run', summary: 'run it in the foreground; Ctrl-C ends it', arguments: [], options: [BY], run },
    { name: 'start', summary: 'have it run in the background, and wait until it answers', arguments: [], options: [], run: start },
    { name: 'stop', summary: 'end it by identity, and see it gone', arguments: [], options: [], run: stop },
    { name: 'status', summary: 'tell how it does, part by part', arguments: [], options: [], run: status },
  ],
  more: () => ({
    description: [
      'The daemon is optional and there is one for each home; no other verb needs it.',
      'Ten starts at once make one daemon, and a daemon that does not answer is never replaced.',
      'Killed at any moment it loses nothing, and its next life adopts every run that lives.',
      'The verb stop sends TERM, and KILL after 10 seconds. The verb run ends with 69 if the home is removed.',
    ],
    examples: [
      ['daemon start', 'The daemon runs in the background.'],
      ['daemon status', 'Each part is listed with its last success, failures and next try.'],
    ],
    exits: {
      done: 'it runs (start), is gone (stop), or is well in all parts (status)',
      unavailable: 'none runs (status), it does not answer, a part fails, or it could not be started',
      bug: 'an internal error; the stack is in the log of the daemon',
      held: 'another daemon holds the home (run)',
      unproven: 'it cannot be judged or signalled from here (stop)',
      survivors: 'it is still there (stop)',
    },
  }),
}

async function run({ assets, home }: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'daemon run')
  // Node would open a debugger. Until the daemon says what it makes of a signal, this one does nothing.
  process.on('SIGUSR1', () => {})
  const { runDaemon } = require(join(assets, 'daemon.cjs')) as Bundle
  const code = await runDaemon({ assets, home, version: HOLDFAST_VERSION, startedBy: startedBy(parsed) }).catch(fromBundle)
  // A part that did not end in time is not waited for.
  return process.exit(code)
}

/** A refusal of the bundle is of its own kind, though it reads like ours. */
function fromBundle(error: unknown): never {
  const { name, id, message, hint } = error as Problem
  throw name === 'Problem' ? new Problem(id, message, { ...(hint === null ? {} : { hint }), cause: error }) : error
}

/** systemd names the process that it started. */
function startedBy({ values }: Parsed): StartedBy {
  const by = values.get('by') ?? (process.env['SYSTEMD_EXEC_PID'] === String(process.pid) ? 'service' : 'run')
  if (by !== 'run' && by !== 'start' && by !== 'service') throw new Problem('option-value-invalid', '--by takes run, start or service')
  return by
}

async function start(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'daemon start')
  const { kind, pid, version, elsewhere, repaired } = await startDaemon(world)
  for (const line of [...repaired, ...versionText(version, HOLDFAST_VERSION)]) say(line)
  if (parsed.flags.has('json')) printJson({ started: kind === 'started', pid, version, elsewhere, repaired })
  else
    print([`${kind === 'started' ? 'the daemon runs' : 'the daemon runs already'} (pid ${pid ?? '?'}${elsewhere === null ? '' : `; ${elsewhere}`})`])
  return exitCode.done
}

async function stop(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'daemon stop')
  const stopped = await stopDaemon(world)
  const { repaired } = stopped
  for (const line of repaired) say(line)
  if (parsed.flags.has('json'))
    printJson(stopped.kind === 'none' ? { stopped: false, pid: null, killed: false, repaired } : { stopped: true, ...stopped, kind: undefined })
  else if (stopped.kind === 'none') print(['no daemon runs'])
  else print([`the daemon (pid ${stopped.pid}) was ${stopped.killed ? 'killed, since it did not end in time' : 'stopped'}, and seen gone`])
  return exitCode.done
}

async function status(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'daemon status')
  const seen = await daemonStatus(world)
  for (const line of seen.repaired) say(line)
  if (parsed.flags.has('json')) printJson(daemonJson(seen, HOLDFAST_VERSION))
  else print(daemonText(seen, HOLDFAST_VERSION, world.clock.now(), paintFor(1)))
  return isWell(seen) ? exitCode.done : exitCode.unavailable
}
