import { statSync } from 'node:fs'
import type { ProcessId, Terminal } from '../model/index.ts'
import { readSmall } from './proc.ts'

/** The kernel's numbers for consoles, and for pseudo-terminals. */
const CONSOLE_MAJOR = 4
const CONSOLES = 64
const FIRST_MAJOR = 136
const LAST_MAJOR = 143

/** The kernel notes when something was written to a terminal, give or take eight seconds; what is typed there does not count. */
export function terminalOf({ pid, ticks }: ProcessId): Terminal | null {
  try {
    const { text } = readSmall(`/proc/${pid}/stat`)
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const device = Number(fields[7 - 3])
    const major = (device >> 8) & 0xfff
    const minor = (device & 0xff) | ((device >> 12) & 0xfff00)
    const path = pathOf(major, minor)
    if (Number(fields[22 - 3]) !== ticks || path === null) return null
    return { path, outputAt: statSync(path).mtimeMs }
  } catch {
    return null
  }
}

function pathOf(major: number, minor: number): string | null {
  if (major === CONSOLE_MAJOR) return minor < CONSOLES ? `/dev/tty${minor}` : `/dev/ttyS${minor - CONSOLES}`
  return major < FIRST_MAJOR || major > LAST_MAJOR ? null : `/dev/pts/${(major - FIRST_MAJOR) * 256 + minor}`
}

/** A terminal is born with its name, and whatever is written to it changes only the other times. One whose mode was changed since is not told apart from a new one. */
export function isTerminalSince(path: string, at: number): boolean {
  try {
    const stat = statSync(path)
    return stat.isCharacterDevice() && stat.ctimeMs <= at
  } catch {
    return false
  }
}
