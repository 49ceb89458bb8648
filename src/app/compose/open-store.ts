import { join } from 'node:path'
import { backoffMs } from '../../decide/index.ts'
import type { Clock, Store } from '../../model/index.ts'
import { policy } from '../../model/index.ts'
import { openSqliteStore } from '../../record/index.ts'
import { withFailpoints } from '../world/failpoints.ts'

/** The store of a home. A `reader` never waits for another writer. */
export async function openStore(home: string, clock: Clock, as: 'writer' | 'reader'): Promise<Store> {
  const bounds = { minMs: policy.busyRetryMinMs, maxMs: policy.busyRetryMaxMs }
  const port = await openSqliteStore({
    path: join(home, 'holdfast.db'),
    clock,
    patienceMs: policy.busyMs,
    writePatienceMs: as === 'writer' ? policy.busyMs : 0,
    backoff: (attempt) => backoffMs(attempt, bounds, clock.random()),
  })
  return withFailpoints('store', port)
}
