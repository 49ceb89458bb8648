/** How a harness ended. Both are set when a shell told us 128+n, since a shell cannot tell `exit 137` from SIGKILL. */
export type Exit = { readonly code: number | null; readonly signal: string | null }

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

/** The code a shell would give: 128+n for a signal. */
export function shellCode({ code, signal }: Exit): number {
  if (code !== null) return code
  const number = Object.entries(SIGNALS).find(([, name]) => name === signal)?.[0] ?? signal?.slice(3)
  return 128 + (Number(number) || 0)
}

/** From the status a shell gives: 128+n is a signal, as far as a shell can tell. */
export const exitFromShell = (code: number): Exit => (code > 128 && code <= 192 ? { code, signal: signalName(code - 128) } : { code, signal: null })

/** From the wait status a zombie carries: exact. */
export const exitFromWaitStatus = (status: number): Exit =>
  (status & 127) === 0 ? { code: (status >> 8) & 255, signal: null } : { code: null, signal: signalName(status & 127) }

export const describeExit = (exit: Exit): string =>
  exit.signal === null ? `exit code ${exit.code}` : exit.code === null ? exit.signal : `${exit.signal} (${exit.code})`
