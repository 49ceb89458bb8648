import { httpPart } from './http-part.ts'
import type { Daemon } from './index.ts'
import type { Part } from './loop.ts'
import { reconcilePart } from './reconcile-part.ts'

/** All that the daemon sees to. */
export const partsOf = (daemon: Daemon): Part[] => [reconcilePart(daemon), httpPart(daemon)]
