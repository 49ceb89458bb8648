import { type FSWatcher, watch } from 'node:fs'
import type { Alone } from '../../app/index.ts'
import type { Clock, DaemonFiles, DaemonRecord } from '../../model/index.ts'
import { exitCode, Problem, policy } from '../../model/index.ts'
import type { Farewell } from '../frame/exit.ts'
import type { Log } from '../frame/log.ts'
import type { Part } from '../frame/loop.ts'
import type { Door } from '../frame/socket.ts'

export type Own = {
  /** As the daemon has them, wherever they are moved to. */
  readonly files: DaemonFiles
  /** Which folder others find where its own was. */
  readonly identity: DaemonFiles['identity']
  readonly alone: Alone
  /** The daemon on record that is alive and holds the home, if that is another one. */
  readonly other: () => DaemonRecord | null
  readonly clock: Clock
  readonly door: Door
  readonly record: () => DaemonRecord
  readonly log: Log
  readonly end: Farewell['end']
  readonly wake: () => void
}

/** Sees to what is the daemon's own: its folder, its lock, its socket, its record. Without a home, or beside another daemon, it does not go on. */
export function homePart(own: Own): Part {
  const { files, identity, alone, door, record, log, end } = own
  const folder = identity()
  const watching = watchFolder(own)
  return {
    name: 'home',
    everyMs: policy.daemonPulseMs,
    async round() {
      if (identity() !== folder || folder === null) return leave('the home was removed or replaced', exitCode.unavailable)
      if (!alone.isStill()) {
        if (!(await retake(own))) return leave('its lock file was taken away, and another daemon holds the home now', exitCode.held)
        log('the lock file was gone: the home is held anew')
      }
      if (await door.restore()) log('the socket was gone: there is a new one')
      if (JSON.stringify(files.record()) !== JSON.stringify(record())) {
        files.writeRecord(record())
        log('the record was not ours: written anew')
      }
      const aside = files.mendLog()
      if (aside !== null) log(`something else lay in the place of the log: it is now ${aside}`)
      files.capLog()
      return {}
    },
    trouble() {
      const why = files.logTrouble()
      return why === null ? null : `its own log (daemon/log) ${why}: nothing is written to it; move it away`
    },
    async close() {
      watching?.close()
    },
  }

  function leave(why: string, code: number): Readonly<Record<string, number>> {
    end(why, code)
    return {}
  }
}

/** Who only looks, or repairs, has the new file for a moment: only another daemon is a reason to leave. False: there is one. */
async function retake({ alone, other, clock }: Own): Promise<boolean> {
  const until = clock.elapsed() + policy.daemonLockMs
  for (;;) {
    if (alone.retake()) return true
    if (other() !== null) return false
    if (clock.elapsed() >= until)
      throw new Problem('daemon-lock-held', 'its lock file was taken away, and somebody holds the one that lies there, but no daemon on record')
    await clock.sleep(policy.pollMaxMs)
  }
}

/** What the daemon itself writes there all the time. */
const OWN_WRITING = /^(?:log|health\.json)/

/** Where nobody can watch, the pace must do. */
function watchFolder({ files, wake }: Own): FSWatcher | null {
  let alarm: NodeJS.Timeout | null = null
  try {
    const watcher = watch(files.folder, { persistent: false }, (_, name) => {
      if (alarm !== null || (name !== null && OWN_WRITING.test(name))) return
      alarm = setTimeout(() => {
        alarm = null
        wake()
      }, policy.daemonSettleMs)
      alarm.unref()
    })
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return null
  }
}
