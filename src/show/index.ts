export { messagesText, newsText } from './agent-news.ts'
export { anchorFindings, anchorsFixedText, anchorText, type JudgedAnchor } from './anchor.ts'
export { choicesText } from './choices.ts'
export { alsoOwnedText, duplicateAdvice, duplicateText, type OwnerView } from './conversation-owners.ts'
export { daemonJson, daemonText, healthJson, isWell, versionText } from './daemon.ts'
export { deniedText } from './denial.ts'
export { type Finding, findingsText, litterText, reapedText } from './doctor.ts'
export { afterJoinText, changeText, type End, finishedText, membersText, retiredText, stoppedJson, stoppedText, stuckText } from './end.ts'
export { ENDED_SHOWN, endedShown, endedShownText } from './ended-shown.ts'
export { earlierText, eventJson, eventsText } from './event-text.ts'
export { faultOf } from './fault.ts'
export { forgottenSessionText } from './forgotten.ts'
export { attachCommand, holderFacts, holderLine, lockFacts, lockHolderLine } from './holder.ts'
export { hookChangeText, hookStatesText } from './hooks.ts'
export { jsonText } from './json.ts'
export {
  type CheckView,
  checkJson,
  checkText,
  type LockView,
  lockedJson,
  lockedText,
  lockJson,
  locksText,
  unlockedJson,
  unlockedText,
} from './lock.ts'
export { messageJson, messageText, moreText, senderText, sentText } from './message.ts'
export { daemonMetrics, METRICS_TYPE, metricsText } from './metrics.ts'
export { heldBackText, notificationText } from './notify.ts'
export { type Page, tilde, WIDE, wrapped } from './page.ts'
export { doorLine, type Paint, painter, plain } from './paint.ts'
export { problemJson, problemText } from './problem.ts'
export { problemsPage } from './problems-page.ts'
export { installedText, removedText, serviceJson, serviceText } from './service.ts'
export {
  memberJson,
  ownedTaskJson,
  paneJson,
  type SessionView,
  sentIntoText,
  sightJson,
  sparedJson,
  startedTaskJson,
  suspectJson,
  type TaskView,
  taskJson,
  type WorktreeView,
} from './session-view.ts'
export { sessionsText } from './sessions-text.ts'
export { type SiblingView, siblingJson, siblingsText } from './siblings.ts'
export { type CheckedStep, sourceCheckJson, sourceCheckText } from './source-check.ts'
export { statesPage } from './states.ts'
export { type Reader, statusText } from './status-text.ts'
export { levelText, tasksText, taskText } from './task.ts'
export { terminalText } from './terminal-text.ts'
export {
  suspectText,
  type TreeView,
  treeText,
  type UnreadableRun,
  unreadableRunText,
  unreadableText,
} from './text.ts'
export { age, iso } from './time.ts'
export { uninstalledText } from './uninstall.ts'
export { authorOf, systemdUnit, systemdWord, withHash } from './unit.ts'
export { managedJson, strangersText, type UnmanagedView, unmanagedJson, unmanagedText } from './unmanaged.ts'
export { tokensJson, tokensShort, tokensText } from './usage.ts'
export { type WhoView, whoJson, whoText } from './who-am-i.ts'
export {
  boardText,
  feedbackJson,
  type RequestStory,
  type RequestView,
  requestAddedText,
  requestJson,
  requestStoryJson,
  requestText,
} from './work.ts'
export {
  type CancelledView,
  cancelledJson,
  cancelledText,
  type FinishedView,
  feedbackAddedText,
  feedbackText,
  finishedJson,
  repeatedText,
  requestFinishedText,
} from './work-change.ts'
export { type ExplainedView, explainedJson, explainedText } from './work-explain.ts'
export { sourceText, workPassJson, workPassText } from './worker.ts'
export { workflowJson, workflowText } from './workflow.ts'
export { discardedJson, discardedText, discardQuestion, leftText, mergedJson, mergedText } from './worktree.ts'
