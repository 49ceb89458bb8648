import { type CallFailure, policy, type SourceHealth } from '../../model/index.ts'
import { backoffMs } from '../retry.ts'

export const HEALTHY: SourceHealth = { state: 'ok', failures: 0, nextAt: null, cause: null, succeededAt: null }

/** A call was answered: the next one needs no pause. */
export const afterSuccess = (now: number): SourceHealth => ({ ...HEALTHY, succeededAt: now })

/**
 * A call failed: when is the next one? The other side's own word about a pause is kept, within a bound. A credential that is refused is tried
 * again slowly, since only a person can mend it. Failures of a single item do not count against its source.
 */
export function afterFailure(before: SourceHealth, failure: CallFailure, now: number, random: number): SourceHealth {
  if (ofItemAlone(failure)) return afterSuccess(now)
  const failures = before.failures + 1
  const bounds =
    failure.kind === 'unauthorized'
      ? { minMs: policy.sourceAuthMinMs, maxMs: policy.sourceAuthMaxMs }
      : { minMs: policy.sourceRetryMinMs, maxMs: policy.sourceRetryMaxMs }
  const pause = backoffMs(failures - 1, bounds, random)
  const asked = failure.retryAfterMs === null ? 0 : Math.min(failure.retryAfterMs, policy.sourcePauseMs)
  return {
    state: failure.kind === 'unauthorized' ? 'auth-blocked' : failure.kind === 'limited' ? 'limited' : 'retrying',
    failures,
    nextAt: now + Math.max(pause, asked),
    cause: failure.why,
    succeededAt: before.succeededAt,
  }
}

/** The source answered, and its answer is about one item. */
const ofItemAlone = ({ kind }: CallFailure): boolean => kind === 'missing' || kind === 'gone' || kind === 'conflict'

export const isDue = (health: SourceHealth, now: number): boolean => health.nextAt === null || health.nextAt <= now
