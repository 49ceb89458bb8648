import { readlinkSync } from 'node:fs'
import { isatty } from 'node:tty'
import { readKernel, readKernelFile } from '../lib/index.ts'
import { isRunMarker, signalsIn, textOf } from '../model/index.ts'
import { parseRttime, parseStat, readSmall } from './proc.ts'

/** The numbers of the signals a process ignores. */
export function ignoredSignals(pid: number): Set<number> {
  return signalsIn(/^SigIgn:\s*([0-9a-f]+)$/m.exec(readKernelFile(`/proc/${pid}/status`).toString('latin1'))?.[1] ?? '0')
}

/** The run marker this very process was born with, if any; without /proc nothing is to be known of it. */
export function ownMarker(): number | null {
  const limits = readKernel('/proc/self/limits')
  const soft = limits === null ? null : parseRttime(limits)
  return soft !== null && isRunMarker(soft) ? soft : null
}

/** Those that this process was started from: so many at most are asked. */
const MAX_ORIGINS = 64

/** A variable as the nearest has it of those that this process was started from, are of the same user, and carry this marker. */
export function inheritedVariable(name: string, marker: number): string | null {
  for (let pid = process.ppid, steps = 0; pid > 1 && steps < MAX_ORIGINS; steps++) {
    try {
      const { text, uid } = readSmall(`/proc/${pid}/stat`)
      const isOfRun = uid === process.geteuid?.() && parseRttime(readSmall(`/proc/${pid}/limits`).text) === marker
      const found = isOfRun ? wordsOf(`/proc/${pid}/environ`).find((entry) => entry.startsWith(`${name}=`)) : undefined
      if (found !== undefined) return found.slice(name.length + 1)
      pid = parseStat(text, uid)?.parent ?? 0
    } catch {
      // It has just ended, or may not be looked at: nobody tells what is above it.
      return null
    }
  }
  return null
}

/** Node replaces what is no UTF-8 in arguments and variables; the kernel still has the bytes. */
const REPLACED = '\uFFFD'

/** The arguments of this command, byte for byte. */
export function ownArguments(): string[] {
  const args = process.argv.slice(2)
  return args.some((word) => word.includes(REPLACED)) ? wordsOf('/proc/self/cmdline').slice(-args.length) : args
}

/** Those of the given variables that Node could not read, byte for byte. */
export function unreadVariables(environment: NodeJS.ProcessEnv): Record<string, string> {
  const names = Object.keys(environment).filter((name) => environment[name]?.includes(REPLACED) === true && environment[name] === process.env[name])
  if (names.length === 0) return {}
  const raw = new Map(wordsOf('/proc/self/environ').map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]))
  return Object.fromEntries(names.flatMap((name) => (raw.has(name) ? [[name, raw.get(name) as string]] : [])))
}

function wordsOf(path: string): string[] {
  const bytes = readKernelFile(path)
  const words: string[] = []
  for (let from = 0, end = bytes.indexOf(0); end >= 0; from = end + 1, end = bytes.indexOf(0, from)) words.push(textOf(bytes.subarray(from, end)))
  return words
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
