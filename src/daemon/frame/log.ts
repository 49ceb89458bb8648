import { write } from 'node:fs'
import type { Clock, DaemonFiles } from '../../model/index.ts'
import { plainParagraph, policy } from '../../model/index.ts'
import { within } from './loop.ts'

export type Log = {
  (line: string): void
  /** Waits, for a moment at most, until what was said is out; false: a write hangs. */
  flush(): Promise<boolean>
}

/**
 * The daemon's own log. Where its error output is another one (a terminal, a journal) each line goes there too, as long as that takes it: one
 * that is closed is left alone from then on, and one that hangs holds nobody up.
 */
export function openLog(files: DaemonFiles, clock: Clock): Log {
  // An error that nobody listens to would end the process, and be told on the same closed pipe.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const mirror = files.isLog(2) ? null : openMirror()
  const log = (line: string): void => {
    const at = clock.now()
    files.tell(line, at)
    mirror?.say(`${new Date(at).toISOString()} ${process.pid} ${plainParagraph(line)}\n`)
  }
  return Object.assign(log, { flush: async () => mirror === null || (await within(policy.daemonFlushMs, mirror.settled())) || !mirror.hangs() })
}

type Mirror = { say(text: string): void; settled(): Promise<void>; hangs(): boolean }
/** As `write` of `node:fs`. */
type Put = (bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void

/** What does not fit now is tried again; what waits longer than it can be kept is counted, and that is said. */
export function openMirror(put: Put = (bytes, done) => write(2, bytes, done)): Mirror {
  let waiting: string[] = []
  let leftOut = 0
  let writing: Promise<void> | null = null
  let closed = false
  let inside = false
  const putAll = (bytes: Buffer, done: () => void): void => {
    inside = true
    // Not at once: that would wait for whoever reads.
    put(bytes, (error, written) => {
      inside = false
      closed ||= error !== null && error.code !== 'EAGAIN'
      const rest = error === null ? bytes.subarray(written) : bytes
      if (closed || rest.length === 0) done()
      else setTimeout(() => putAll(rest, done), policy.daemonMirrorMs).unref()
    })
  }
  const next = (): void => {
    if (writing !== null || closed || waiting.length === 0) return
    const text = `${waiting.join('')}${leftOut === 0 ? '' : `(${leftOut} more lines were left out here; they are in the log)\n`}`
    waiting = []
    leftOut = 0
    writing = new Promise((done) => {
      putAll(Buffer.from(text), () => {
        writing = null
        done()
        next()
      })
    })
  }
  return {
    say(text) {
      if (waiting.length < policy.daemonLinesHeld) waiting.push(text)
      else leftOut++
      next()
    },
    async settled() {
      while (writing !== null) await writing
    },
    hangs: () => inside,
  }
}

/** An error with what caused it, in a line. */
export function errorText(error: unknown): string {
  const words: string[] = []
  for (let at = error, depth = 0; at !== undefined && at !== null && depth < 5; at = (at as Error).cause, depth++)
    words.push(at instanceof Error ? at.message : String(at))
  return [...new Set(words)].join(' ← ')
}
