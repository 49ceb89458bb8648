export { agentsAmong, commandOf, isIdle, isProgramOf, mayBeAgent, registeredAgents } from './agents.ts'
export { allAnchors, anchorNow, HARNESSES, HOOKS, harnessNamed } from './all.ts'
export { stampOf } from './anchors.ts'
export { captureNative, type Seen } from './capture.ts'
export { harnessFrom } from './custom.ts'
export { daemonLore, sharedDaemons } from './daemons.ts'
export { SESSION_VARIABLES } from './environment.ts'
export { GIT_VARIABLES } from './git.ts'
export { hookCommand, isHookCommand, isHookFile } from './hook-command.ts'
export { type Added, addHooks, findHooks, removeHooks, type SettingsHook, settingsTrouble, undoHooks } from './settings.ts'
export { SPARE } from './spare.ts'
export { baselineUsage, glanceUsage, readUsage, readUsageWhole, type UsageRead, usageSince } from './usage.ts'
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
} from './usage-rules.ts'
