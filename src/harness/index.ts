export { allAnchors, anchorNow, HARNESSES, HOOKS, harnessNamed } from './agents/all.ts'
export { harnessFrom } from './custom.ts'
export { findHarnessDaemons, harnessDaemonRules } from './daemons/daemons.ts'
export { SESSION_VARIABLES } from './environment.ts'
export { GIT_VARIABLES } from './git.ts'
export { hookCommand, isHookCommand, isHookFile } from './hooks/hook-command.ts'
export { callingHarness, denialFiles, HOOK_FACTS, HOOK_WORDS } from './hooks/hook-words.ts'
export { type Added, addHooks, findHooks, MAX_HOOKS, removeHooks, type SettingsHook, settingsTrouble, undoHooks } from './hooks/settings.ts'
export { agentsAmong, argumentsOf, commandOf, commandsOf, idleWords, isIdle, isProgramOf, mayBeAgent, registeredAgents } from './recognise/agents.ts'
export { stampOf } from './recognise/anchors.ts'
export { captureNative, type Seen } from './recognise/capture.ts'
export { toolPidFilesFrom } from './recognise/tool-pid-files.ts'
export { versionAt } from './recognise/version.ts'
export { SPARE } from './spare.ts'
export {
  claudeUsage,
  clineUsage,
  codeUsage,
  codexUsage,
  copilotUsage,
  droidUsage,
  geminiUsage,
  gooseUsage,
  grokUsage,
  kiloUsage,
  kimiUsage,
  opencodeUsage,
  piUsage,
  qwenUsage,
} from './usage/rules.ts'
export { baselineUsage, glanceUsage, readUsage, readUsageWhole, type UsageRead, usageSince } from './usage/usage.ts'
