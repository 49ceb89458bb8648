import { readFileSync, readlinkSync } from 'node:fs'
import { isatty } from 'node:tty'
import { isRunMarker } from '../model/index.ts'
import { parseRttime } from './proc.ts'

/** The numbers of the signals a process ignores. */
export function ignoredSignals(pid: number): Set<number> {
  return signalsIn(/^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '0')
}

/** A mask as the kernel writes it. */
export function signalsIn(mask: string): Set<number> {
  const bits = BigInt(`0x${mask}`)
  return new Set(Array.from({ length: 64 }, (_, index) => index + 1).filter((signal) => (bits >> BigInt(signal - 1)) & 1n))
}

/** The run marker this very process was born with, if any. */
export function ownMarker(): number | null {
  const soft = parseRttime(readFileSync('/proc/self/limits', 'latin1'))
  return soft !== null && isRunMarker(soft) ? soft : null
}

/** The terminal this command was started on, if any. */
export function terminalName(): string | null {
  const fd = [0, 1, 2].find((candidate) => isatty(candidate))
  if (fd === undefined) return null
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return null
  }
}
