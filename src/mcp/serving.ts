import type { Worlds } from '../app/index.ts'
import type { Tell } from './answer.ts'
import type { Subscriptions } from './subscriptions.ts'

/** What a server works with, whatever it is served over. */
export type Serving = {
  readonly version: string
  readonly worlds: Worlds
  readonly tell: Tell
  /** Aborted when whoever is served is going: what waits shall not wait any longer. */
  readonly ending: AbortSignal
  /** Null: nobody can be told of what happens, since no connection stays. */
  readonly subscriptions: Subscriptions | null
}
