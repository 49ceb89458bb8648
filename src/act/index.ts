export { type AnchorPorts, clearAnchor } from './end/clear-anchor.ts'
export { type EndRunPorts, endRun, endWhatIsLeft, type RunEnd, untilKeeperLeft } from './end/end-run.ts'
export { endTree } from './end/end-tree.ts'
export { dismissKeeper, endTimer, guardOf } from './end/keeper.ts'
export { release, usageOf } from './end/release-cgroup.ts'
export { isThere, untilGone } from './end/wait-until-gone.ts'
export { remember, withPorts } from './look/journal.ts'
export {
  type Counted,
  censusOf,
  censusOfAll,
  isHere,
  type Looked,
  lookAt,
  lookAtAll,
  markedAnywhere,
  type Surveyed,
  surveyAll,
} from './look/look.ts'
export { harnessOf } from './look/look-at-harness.ts'
export { withSuspects } from './look/suspects-left.ts'
export { bornAfter, type EndPorts, type Lookable, type LookPorts } from './ports.ts'
