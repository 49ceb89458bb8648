/** How a harness ended. A death by signal n has the code 128+n, as shells count; from a shell's word alone it may also be an exit with that code. */
export type Exit = { readonly code: number; readonly signal: string | null }

const SIGNALS: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  5: 'SIGTRAP',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  10: 'SIGUSR1',
  11: 'SIGSEGV',
  12: 'SIGUSR2',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
  16: 'SIGSTKFLT',
  24: 'SIGXCPU',
  25: 'SIGXFSZ',
  30: 'SIGPWR',
  31: 'SIGSYS',
}

export const signalName = (number: number): string => SIGNALS[number] ?? `SIG${number}`

/** From the status a shell gives: 128+n is a signal, as far as a shell can tell. */
export const exitFromShell = (code: number): Exit => (code > 128 && code <= 192 ? { code, signal: signalName(code - 128) } : { code, signal: null })

/** From the wait status a zombie carries: exact. */
export const exitFromWaitStatus = (status: number): Exit =>
  (status & 127) === 0 ? { code: (status >> 8) & 255, signal: null } : { code: 128 + (status & 127), signal: signalName(status & 127) }

export const describeExit = (exit: Exit): string => (exit.signal === null ? `exit code ${exit.code}` : `${exit.signal} (${exit.code})`)
