import { sameHealth, turn } from '../../decide/index.ts'
import type { Clock, DaemonFiles, DaemonHealth } from '../../model/index.ts'
import { policy } from '../../model/index.ts'

export type Vitals = { nudge(): void; stop(): void }

/** Keeps how the daemon does where others find it without asking: in a file, and as an event when the whole has changed. */
export function watchVitals(
  health: () => DaemonHealth,
  { files, clock, turned }: { files: DaemonFiles; clock: Clock; turned: (what: 'healthy' | 'unhealthy', why: string | null) => void },
): Vitals {
  let wasHealthy = true
  let written: DaemonHealth | null = null
  let writtenAt = 0
  const look = (): void => {
    const now = health()
    const change = turn(wasHealthy, now)
    wasHealthy = now.healthy
    if (change !== null) turned(change.what, change.why)
    const sinceMs = clock.elapsed() - writtenAt
    const isNews = written === null || !sameHealth(written, now)
    if (written !== null && sinceMs < (isNews ? policy.daemonHealthMs : policy.daemonHealthStaleMs)) return
    if (!files.writeHealth(now)) return
    written = now
    writtenAt = clock.elapsed()
  }
  const pulse = setInterval(look, policy.daemonPulseMs)
  return { nudge: look, stop: () => clearInterval(pulse) }
}
