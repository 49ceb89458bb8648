import { exitCode } from '../../model/index.ts'
import type { Log } from './log.ts'

/** Why the daemon ends, and the code that it gives. */
export type Ending = { readonly why: string; readonly code: number }

export type Farewell = {
  /** Begins the end; the first one stands. */
  end(why: string, code: number): void
  readonly told: Promise<Ending>
  /** The last word is said: nothing more is to be said at the exit. */
  said(): void
}

/** All that would end it without a word, and can be heard. */
const ENDING = [
  'SIGTERM',
  'SIGINT',
  'SIGQUIT',
  'SIGALRM',
  'SIGVTALRM',
  'SIGPROF',
  'SIGXCPU',
  'SIGIO',
  'SIGPWR',
  'SIGSTKFLT',
] as const satisfies NodeJS.Signals[]

/** By the first of them Node would open a debugger, by which everybody on this machine could act as the owner. */
const DEAF = ['SIGUSR1', 'SIGUSR2'] as const

/** Every way to end comes through here, so that each leaves a line. */
export function listenForEnd(log: Log): Farewell {
  let first: Ending | null = null
  let isSaid = false
  let tell: (ending: Ending) => void = () => {}
  const told = new Promise<Ending>((resolve) => {
    tell = resolve
  })
  const end = (why: string, code: number): void => {
    if (first !== null) return
    first = { why, code }
    log(`ends: ${why}`)
    tell(first)
  }
  for (const signal of ENDING) process.on(signal, () => end(signal, exitCode.done))
  for (const signal of DEAF) process.on(signal, () => log(`${signal}: it means nothing to the daemon, which goes on`))
  // Past its limit a file cannot be written, the log perhaps: whoever wanted to write is told so.
  process.on('SIGXFSZ', () => {})
  // A terminal that is closed, or a habit: what is configured is read anew with every round.
  process.on('SIGHUP', () => log('SIGHUP: it goes on; the configuration is read anew with every round anyway'))
  for (const fault of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(fault, (error: unknown) => {
      const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
      // What happens while it leaves does not keep it.
      if (first !== null) log(`a bug while it ends: ${stack}`)
      else end(`a bug: ${stack}`, exitCode.bug)
    })
  process.on('exit', (code) => {
    if (!isSaid) log(`ended: exit code ${code}`)
  })
  return {
    end,
    told,
    said: () => {
      isSaid = true
    },
  }
}
