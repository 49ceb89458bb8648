import {
  type Alone,
  cleanEnvironment,
  clearRemains,
  type DaemonPlace,
  daemonPlace,
  folderProblem,
  openWorld,
  realClock,
  type World,
  worlds,
} from '../app/index.ts'
import type { DaemonFiles, DaemonRecord } from '../model/index.ts'
import { DAEMON_PROTOCOL, Problem, policy, sameProcess } from '../model/index.ts'
import type { Daemon, DaemonOptions } from './daemon.ts'
import { type Farewell, listenForEnd } from './frame/exit.ts'
import { watchVitals } from './frame/health-file.ts'
import { type Log, openLog } from './frame/log.ts'
import { tellFailures } from './frame/log-failures.ts'
import { type Loop, startLoop, within } from './frame/loop.ts'
import { daemonSite } from './frame/site.ts'
import { openDoor } from './frame/socket.ts'
import { otherDaemon, ownMarker, refuseNewerStore, takeHome } from './frame/take-home.ts'
import { openMemory } from './parts/daemon-events.ts'
import { homePart } from './parts/own-files-part.ts'
import { partsOf } from './parts/parts.ts'

/** The daemon: one for each home. It only makes things happen without being asked; nothing depends on it. */
export async function runDaemon(options: DaemonOptions): Promise<number> {
  process.umask(0o077)
  const world = openWorld(options)
  const place = daemonPlace(world)
  try {
    const alone = await takeHome(world, place)
    await refuseNewerStore(world)
    return await serve(options, world, place, alone)
  } catch (raw) {
    const error = folderProblem(place, raw)
    // Without a terminal its log is the only place where anybody will look.
    if (!(error instanceof Problem) || !place.files.isLog(2)) throw error
    place.files.tell(`did not start: ${error.message}${error.hint === null ? '' : `\n${error.hint}`}`, realClock.now())
    return error.exitCode
  }
}

/** From here on the home is ours, and every way to end leaves a line. */
async function serve(options: DaemonOptions, world: World, place: DaemonPlace, alone: Alone): Promise<number> {
  const { files } = place
  process.chdir(files.folder)
  const here = place.here()
  // Before there is anything to end: a home that cannot be written is told by whoever called us.
  clearRemains(place, realClock.now())
  const log = openLog(here, realClock)
  const farewell = listenForEnd(log)
  log(`started: holdfast ${options.version}, by daemon ${options.startedBy}, in ${options.home}`)
  stripEnvironment(world)
  let record = recordOf(options, world, place)
  const folder = files.identity()
  const isThere = (): boolean => files.identity() === folder
  const open = (): World => {
    if (!isThere()) throw new Problem('home-gone', 'the home was removed or replaced')
    return openWorld(options)
  }
  const shared = worlds(open)
  const { remember, part: memory } = openMemory(shared, log, realClock, () => loop.wake('store'))
  const known = { ...options, files, isThere, open, worlds: shared, log, health: () => loop.health() }
  const daemon: Daemon = {
    ...known,
    site: daemonSite(known),
    wake: (part) => loop.wake(part),
    listening(http) {
      record = { ...record, http }
      // With the lock file taken away, another one's record may be there: that is not ours to change.
      if (alone.isStill()) here.writeRecord(record)
    },
  }
  const door = await openDoor(here, daemon.site.onSocket)
  here.writeRecord(record)
  const other = (): DaemonRecord | null => otherDaemon(place, record)
  const own = homePart({
    files: here,
    identity: files.identity,
    alone,
    other,
    clock: realClock,
    door,
    record: () => record,
    log,
    end: farewell.end,
    wake: () => loop.wake('home'),
  })
  const tell = tellFailures(log, farewell, realClock)
  const loop = startLoop([own, ...partsOf(daemon), memory], realClock, (...told) => {
    tell(...told)
    vitals.nudge()
  })
  const vitals = watchVitals(loop.health, {
    files: here,
    clock: realClock,
    turned: (what, why) => {
      log(`${what}${why === null ? '' : `: ${why}`}`)
      void remember({ what, why })
    },
  })
  void remember({ what: 'started', pid: process.pid, version: options.version, by: options.startedBy })
  vitals.nudge()
  const { why, code } = await farewell.told
  vitals.stop()
  await leave(loop, log)
  await door.close()
  await within(policy.daemonCloseMs, remember({ what: 'ended', pid: process.pid, why: why.split('\n')[0] }))
  return goAway({ here, alone, farewell, log, record }, code)
}

const recordOf = ({ version, startedBy }: DaemonOptions, world: World, { files }: DaemonPlace): DaemonRecord => ({
  format: 1,
  process: world.processes.self(),
  place: world.processes.here(),
  marker: ownMarker(world),
  version,
  protocol: DAEMON_PROTOCOL,
  startedAt: realClock.now(),
  startedBy,
  socket: files.socket,
  http: null,
})

/** For whatever it starts: `daemon run` may have been typed inside a session. */
function stripEnvironment(world: World): void {
  const clean = cleanEnvironment(world)
  for (const name of Object.keys(process.env)) if (!(name in clean)) delete process.env[name]
  Object.assign(process.env, clean)
}

async function leave(loop: Loop, log: Log): Promise<void> {
  const late = await loop.stop()
  if (late.length > 0) log(`did not wait any longer for: ${late.join(', ')}`)
}

type Last = {
  readonly here: DaemonFiles
  readonly alone: Alone
  readonly farewell: Farewell
  readonly log: Log
  readonly record: DaemonRecord
}

/** Nothing is left but the log, and the lock goes last: who comes next finds the home in order. */
async function goAway({ here, alone, farewell, log, record }: Last, code: number): Promise<number> {
  // By what it says: with its lock file taken away, one that is here now may have written its own.
  const there = here.record()
  if (there !== null && sameProcess(there.process, record.process)) here.removeRecord()
  log(`ended: exit code ${code}`)
  farewell.said()
  alone.release()
  // Whoever reads our output hangs, and the runtime would wait for it for ever.
  if (!(await log.flush())) process.kill(process.pid, 'SIGKILL')
  return code
}
