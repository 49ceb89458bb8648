import type { Daemon } from '../daemon.ts'
import type { Part } from '../frame/loop.ts'
import { anchorsPart } from './anchors-part.ts'
import { configPart } from './config-part.ts'
import { httpPart } from './http-part.ts'
import { notifyParts } from './notify-part.ts'
import { prunePart } from './prune-part.ts'
import { reconcilePart } from './reconcile-part.ts'
import { openWatching } from './watch-part.ts'
import { workParts } from './work-part.ts'

/** All that the daemon sees to. */
export const partsOf = (daemon: Daemon): Part[] => {
  const reconciling = reconcilePart(daemon)
  const watching = openWatching(daemon)
  watching.onRunFile(reconciling.onRunFile)
  watching.onRunFile((_, name) => name === 'activity' && daemon.wake('activity'))
  return [
    reconciling.part,
    watching.part,
    prunePart(daemon),
    anchorsPart(daemon),
    configPart(daemon),
    httpPart(daemon),
    ...notifyParts(daemon),
    ...workParts(daemon),
  ]
}
