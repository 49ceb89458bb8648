export { activityFrom, type Signs } from './activity.ts'
export {
  choosesSession,
  continuesNewest,
  daemonizes,
  headlessWords,
  idIn,
  isHeadless,
  keptWords,
  resumeWords,
  startWords,
  wantsApart,
} from './agent-arguments.ts'
export { announced, newsFor, toldFrom } from './agent-news.ts'
export { type AnchorFacts, anchorVerdict } from './anchor.ts'
export {
  type Choice,
  type ClaimDecision,
  type ClaimView,
  decideClaim,
  type Holding,
  type Judged,
  type Obstacle,
  type OnLive,
  toJudge,
} from './claim.ts'
export { converge, type Step } from './converge.ts'
export { conversationMeant } from './conversation-meant.ts'
export { duplicateOwners, strongestOfEach } from './conversation-owners.ts'
export { presenceOf } from './daemon-presence.ts'
export { parseDuration } from './duration.ts'
export { sessionVariables } from './environment.ts'
export { judge, judgePlace } from './fact.ts'
export { type DeliveryFacts, judgeDelivery, wayTo } from './feedback.ts'
export { type Ask, type DaemonFate, type FoundDaemon, fateOfDaemons, nearestOf, type RunOfDaemon } from './harness-daemon.ts'
export { atWork, failed, healthOf, type PartState, sameHealth, succeeded, troubled, turn, unborn } from './health.ts'
export { activityAfter, hookCallFrom, isForeign, isInner, nativeIn } from './hook-call.ts'
export { elsewhere, versionTrouble } from './hosting.ts'
export { brokenInvariants } from './invariants.ts'
export { nextJournal } from './journal.ts'
export { areWorktrees, isDelegated, isOwner, type LockVerdict, leftOf, lockVerdict, relationOf, type Standing, standing, standingOf } from './lock.ts'
export { type Census, census, treeOf } from './members.ts'
export { type Neighbours, neighboursFrom, type Questions } from './neighbours.ts'
export { decideNotification, type Happening, heldBack, historyFrom, NOTHING_TOLD, nowDue, waitingToBeTold } from './notify.ts'
export { isTelling, standsOn, typable, unspaced } from './pane-input.ts'
export { patienceMs, type Want } from './patience.ts'
export { afterResult, nextStep, type RequestFacts, type RequestRun, type RequestStep } from './request.ts'
export { turns } from './request-queue.ts'
export { backoffMs } from './retry.ts'
export { judgeService } from './service.ts'
export { type Asker, chooseSiblings, type Families, type Kinship, type Peer, shareRepository } from './sibling.ts'
export { afterFailure, afterSuccess, HEALTHY, isDue } from './source/health.ts'
export { intake } from './source/intake.ts'
export { feedbackKey, hearingsOf } from './source/reports.ts'
export { spareReason } from './spare.ts'
export { type Clues, suspectsOf, whyLeft } from './suspects.ts'
export { isOrphan, whatBecomesOf } from './task.ts'
export type { TreeRecord } from './tree-record.ts'
export { isUnwatched, unwatchedTime, type Watchers } from './unwatched.ts'
export { parseDollars, parseTokens } from './usage.ts'
export { windowsOf, withoutDoubt } from './usage-windows.ts'
export { endedAt, endingOf, hungUp, type Seen, startTrouble, type Verdict, verdict, withNestedAgents } from './verdict.ts'
export { decideSelf, type Listed, mayBeOthers, type OnRecord, type Origin, provenAround, type SelfFacts, type Served } from './who-am-i.ts'
export { byColumn, columnOf } from './work/board.ts'
export { type ExplainFacts, explain, type WorkerPresence } from './work/explain.ts'
export { holdBack } from './work/hold-back.ts'
export { workPrompt } from './work/prompt.ts'
export { redacted } from './work/redact.ts'
export { MAX_STEP_MS, watchRun } from './work/run-watch.ts'
export { endSummary } from './work/summary.ts'
export { usageLimit } from './work/usage-limit.ts'
export { readWorkflow } from './workflow/settings.ts'
export { judgeWorkflow } from './workflow/standing.ts'
export { templateValues, WORKFLOW_SAMPLE } from './workflow/template-values.ts'
export { worktreeRemoval } from './worktree-removal.ts'
