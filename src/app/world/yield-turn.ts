import type { Clock } from '../../model/index.ts'
import { policy } from '../../model/index.ts'
import { realClock } from './clock.ts'

/**
 * For long work that waits for nobody: the store answers at once, so nothing else would have its turn meanwhile, neither a signal nor who asks how we
 * do. Each call lets them, if they have not had it for a while.
 */
export function breather(clock: Pick<Clock, 'elapsed' | 'sleep'> = realClock): () => Promise<void> {
  let last = clock.elapsed()
  return async () => {
    if (clock.elapsed() - last < policy.breathMs) return
    await clock.sleep(0)
    last = clock.elapsed()
  }
}
