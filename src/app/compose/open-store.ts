import { join } from 'node:path'
import { backoffMs } from '../../decide/index.ts'
import type { Clock, Store } from '../../model/index.ts'
import { policy } from '../../model/index.ts'
import { openSqliteStore } from '../../record/index.ts'
import { withFailpoints } from '../world/failpoints.ts'

/** How long a command waits for a store that others hold, and who is told that it does. */
export type StorePatience = { readonly ms: number; readonly tell: () => void }
const ORDINARY: StorePatience = { ms: policy.busyMs, tell: () => {} }

/** The store of a home. A `reader` never waits for another writer. */
export async function openStore(home: string, clock: Clock, as: 'writer' | 'reader', patience: StorePatience = ORDINARY): Promise<Store> {
  const bounds = { minMs: policy.busyRetryMinMs, maxMs: policy.busyRetryMaxMs }
  const port = await openSqliteStore({
    path: join(home, 'holdfast.db'),
    clock,
    patienceMs: patience.ms,
    writePatienceMs: as === 'writer' ? patience.ms : 0,
    waiting: { afterMs: policy.busyTellMs, tell: patience.tell },
    backoff: (attempt) => backoffMs(attempt, bounds, clock.random()),
  })
  return withFailpoints('store', port)
}
