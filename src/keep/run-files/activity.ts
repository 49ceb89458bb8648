import { closeSync, existsSync, fstatSync } from 'node:fs'
import { bytesAt, FileTrouble, openFile, withFile, writeAll } from '../../lib/index.ts'
import type { ActivityState, NotedActivity } from '../../model/index.ts'
import { isActivityState } from '../../model/index.ts'

/** `1 STATE`, as long for each state: it is written in place, and hook.sh never reads half of it. When it was is the file's own time. */
const lineOf = (state: ActivityState): string => `1 ${state.padEnd(7)}\n`
const LENGTH = lineOf('busy').length

export function readActivity(path: string): NotedActivity | null {
  // Whoever looks at many finds none nearly everywhere, and what is thrown for each of them takes time.
  if (!existsSync(path)) return null
  try {
    return withFile(path, 'read', (fd) => {
      const state = /^1 (\w+) *\n$/.exec(bytesAt(fd, 0, LENGTH).toString('latin1'))?.[1]
      return isActivityState(state) ? { state, since: Math.floor(fstatSync(fd).mtimeMs) } : null
    })
  } catch {
    return null
  }
}

/** Also if it is the same: a prompt begins a turn, although no hook may have told that somebody interrupted the one before. */
export function writeActivity(path: string, state: ActivityState): void {
  try {
    const fd = openOrCreate(path)
    try {
      writeAll(fd, lineOf(state), 0)
    } finally {
      closeSync(fd)
    }
  } catch {
    // What an agent is at is no reason to hold it up.
  }
}

function openOrCreate(path: string): number {
  try {
    return openFile(path, 'change')
  } catch (error) {
    if (!(error instanceof FileTrouble) || error.code !== 'ENOENT') throw error
    return openFile(path, 'create')
  }
}
