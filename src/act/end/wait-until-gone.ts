import type { Processes, ProcessId } from '../../model/index.ts'
import { isDead } from '../../model/index.ts'
import type { EndPorts } from '../ports.ts'

/** Waits until all of them are gone, or the time is over; looks only at them. */
export async function untilGone(
  processIds: readonly ProcessId[],
  { processes, clock, policy }: Pick<EndPorts, 'processes' | 'clock' | 'policy'>,
  ms: number,
): Promise<void> {
  const until = clock.elapsed() + ms
  for (let delay = policy.pollMinMs; clock.elapsed() < until; delay = Math.min(delay * 2, policy.pollMaxMs)) {
    if (!processIds.some((id) => isThere(id, processes))) return
    await clock.sleep(delay)
  }
}

export function isThere(id: ProcessId, processes: Processes): boolean {
  const seen = processes.sample(id.pid)
  if (seen.kind === 'absent') return false
  return seen.kind === 'hidden' || (seen.row.ticks === id.ticks && !isDead(seen.row.state))
}
