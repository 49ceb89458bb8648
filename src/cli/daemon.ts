import { join } from 'node:path'
import { daemonStatus, startDaemon, stopDaemon, type World } from '../app/index.ts'
import type { StartedBy } from '../model/index.ts'
import { exitCode, Problem } from '../model/index.ts'
import { daemonJson, daemonText, isWell, versionText } from '../show/index.ts'
import type { Parsed } from './options.ts'
import { paintFor, print, printJson, say } from './out.ts'

declare const HOLDFAST_VERSION: string

/** The daemon is a bundle of its own: no other verb pays for it, nor do those that only speak with it. */
type Bundle = {
  runDaemon(options: { readonly assets: string; readonly home: string; readonly version: string; readonly startedBy: StartedBy }): Promise<number>
}

export async function daemonVerb(world: World, parsed: Parsed): Promise<number> {
  const [what, ...more] = parsed.words
  const verb = more.length === 0 && what !== undefined && Object.hasOwn(VERBS, what) ? VERBS[what] : undefined
  if (verb === undefined) throw new Problem('verb-unknown', 'daemon takes run, start, stop or status')
  if (parsed.values.has('by') && what !== 'run') throw new Problem('option-misplaced', '--by is for daemon run')
  return verb(world, parsed)
}

const VERBS: Readonly<Record<string, (world: World, parsed: Parsed) => Promise<number>>> = { run, start, stop, status }

async function run({ assets, home }: World, parsed: Parsed): Promise<number> {
  // Node would open a debugger. Until the daemon says what it makes of a signal, this one does nothing.
  process.on('SIGUSR1', () => {})
  const { runDaemon } = require(join(assets, 'daemon.cjs')) as Bundle
  const code = await runDaemon({ assets, home, version: HOLDFAST_VERSION, startedBy: startedBy(parsed) }).catch(fromBundle)
  // What did not end in time is not waited for.
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

async function start(world: World, { flags }: Parsed): Promise<number> {
  const { kind, pid, version, elsewhere, repaired } = await startDaemon(world)
  for (const line of [...repaired, ...versionText(version, HOLDFAST_VERSION)]) say(line)
  if (flags.has('json')) printJson({ started: kind === 'started', pid, version, elsewhere, repaired })
  else
    print([`${kind === 'started' ? 'the daemon runs' : 'the daemon runs already'} (pid ${pid ?? '?'}${elsewhere === null ? '' : `; ${elsewhere}`})`])
  return exitCode.done
}

async function stop(world: World, { flags }: Parsed): Promise<number> {
  const stopped = await stopDaemon(world)
  const { repaired } = stopped
  for (const line of repaired) say(line)
  if (flags.has('json'))
    printJson(stopped.kind === 'none' ? { stopped: false, pid: null, killed: false, repaired } : { stopped: true, ...stopped, kind: undefined })
  else if (stopped.kind === 'none') print(['no daemon runs'])
  else print([`the daemon (pid ${stopped.pid}) was ${stopped.killed ? 'killed, since it did not end in time' : 'stopped'}, and seen gone`])
  return exitCode.done
}

async function status(world: World, { flags }: Parsed): Promise<number> {
  const seen = await daemonStatus(world)
  for (const line of seen.repaired) say(line)
  if (flags.has('json')) printJson(daemonJson(seen, HOLDFAST_VERSION))
  else print(daemonText(seen, HOLDFAST_VERSION, world.clock.now(), paintFor(1)))
  return isWell(seen) ? exitCode.done : exitCode.unavailable
}
