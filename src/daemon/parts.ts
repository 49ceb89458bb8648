import type { Daemon } from './index.ts'
import type { Part } from './loop.ts'
import { notifyParts } from './notify-part.ts'
import { reconcilePart } from './reconcile-part.ts'

/** All that the daemon sees to. */
export const partsOf = (daemon: Daemon): Part[] => [reconcilePart(daemon), ...notifyParts(daemon)]
