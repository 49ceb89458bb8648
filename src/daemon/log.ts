import { write } from 'node:fs'
import type { Clock, DaemonFiles } from '../model/index.ts'
import { policy } from '../model/index.ts'
import { within } from './loop.ts'

export type Log = {
  (line: string): void
  /** Waits, for a moment at most, until what was said is out; false: somebody does not take it. */
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
    mirror?.say(`${new Date(at).toISOString()} ${process.pid} ${line}\n`)
  }
  return Object.assign(log, { flush: async () => mirror === null || (await within(policy.daemonFlushMs, mirror.settled())) })
}

function openMirror(): { say(text: string): void; settled(): Promise<void> } {
  let waiting: string[] = []
  let writing: Promise<void> | null = null
  let closed = false
  const next = (): void => {
    if (writing !== null || closed || waiting.length === 0) return
    const text = waiting.join('')
    waiting = []
    writing = new Promise((done) => {
      // Not at once: that would wait for whoever reads.
      write(2, text, (error) => {
        closed ||= error !== null && error.code !== 'EAGAIN'
        writing = null
        done()
        next()
      })
    })
  }
  return {
    say(text) {
      if (waiting.length < policy.daemonLinesHeld) waiting.push(text)
      next()
    },
    async settled() {
      while (writing !== null) await writing
    },
  }
}

/** An error with what caused it, in a line. */
export function errorText(error: unknown): string {
  const words: string[] = []
  for (let at = error, depth = 0; at !== undefined && at !== null && depth < 5; at = (at as Error).cause, depth++)
    words.push(at instanceof Error ? at.message : String(at))
  return [...new Set(words)].join(' ← ')
}
