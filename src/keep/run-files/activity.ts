import { closeSync, constants, existsSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import type { ActivityState, NotedActivity } from '../../model/index.ts'
import { isActivityState } from '../../model/index.ts'

/** `1 STATE`, as long for each state: it is written in place, and hook.sh never reads half of it. When it was is the file's own time. */
const lineOf = (state: ActivityState): string => `1 ${state.padEnd(7)}\n`
const LENGTH = lineOf('busy').length

export function readActivity(path: string): NotedActivity | null {
  // Whoever looks at many finds none nearly everywhere, and what is thrown for each of them takes time.
  if (!existsSync(path)) return null
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const bytes = Buffer.alloc(LENGTH)
      const text = bytes.toString('latin1', 0, readSync(fd, bytes, 0, LENGTH, 0))
      const state = /^1 (\w+) *\n$/.exec(text)?.[1]
      return isActivityState(state) ? { state, since: Math.floor(fstatSync(fd).mtimeMs) } : null
    } finally {
      closeSync(fd)
    }
  } catch {
    return null
  }
}

/** Also if it is the same: a prompt begins a turn, although no hook may have told that somebody interrupted the one before. */
export function writeActivity(path: string, state: ActivityState): void {
  try {
    const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600)
    try {
      writeSync(fd, lineOf(state), 0)
    } finally {
      closeSync(fd)
    }
  } catch {
    // What an agent is at is no reason to hold it up.
  }
}
