import type { Runs, ServiceFacts, UnitState } from '../model/index.ts'

/** One truth about what runs: the daemon that holds the home is the one; systemd and the daemon itself say who started it. */
export function judgeService({ file, unit, daemon }: ServiceFacts): { readonly runs: Runs; readonly disagreement: string | null } {
  if (typeof daemon === 'string') return { runs: 'unknown', disagreement: `whether a daemon runs cannot be told: ${daemon}` }
  const managed = unit?.active === true ? unit.pid : null
  if (daemon === null) {
    if (managed !== null)
      return { runs: 'nothing', disagreement: `the service runs (pid ${managed}), but holds no home: it just starts or ends, or is not ours` }
    if (unit?.trouble != null) return { runs: 'nothing', disagreement: `the service has failed: ${unit.trouble}` }
    return { runs: 'nothing', disagreement: file === 'absent' || unit === null ? null : idleText(unit) }
  }
  const { pid } = daemon.process
  // One that just comes up has not said how it was started.
  if (unit === null) return { runs: daemon.startedBy === 'service' || daemon.startedBy === null ? 'unknown' : 'by-hand', disagreement: null }
  if (managed === pid) return { runs: 'service', disagreement: null }
  const other =
    managed === null ? (unit.trouble === null ? null : `the service has failed: ${unit.trouble}`) : `the service runs pid ${managed} as well`
  const said = daemon.startedBy === 'service' ? `pid ${pid} says that a service started it, but this one did not` : null
  const found = [said, other].filter((one) => one !== null)
  if (found.length > 0) return { runs: 'by-hand', disagreement: `the daemon that holds the home is pid ${pid}; ${found.join('; ')}` }
  const aside = file === 'absent' ? null : `the service is installed, but the daemon (pid ${pid}) was started by hand`
  return { runs: 'by-hand', disagreement: aside }
}

function idleText({ active, enabled, state }: UnitState): string {
  // In the words of systemd, which waits a while between two lives.
  if (state.includes('auto-restart')) return 'the service has failed, and is about to be started again'
  if (active) return `the service is ${state}, and has no process yet`
  return enabled
    ? 'the service is installed, but was stopped'
    : 'the service is installed, but neither runs nor is started at login: nothing runs a daemon'
}
