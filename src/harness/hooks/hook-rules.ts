import { join } from 'node:path'
import type { HookEvent, HookEvents, HookRule } from '../../model/index.ts'
import { folderOf, homeOf } from '../recognise/disk.ts'
import { codexTrusts } from './codex-trust.ts'
import { openCodePlugin } from './opencode-plugin.ts'

const CLAUDE: HookEvents = {
  'session-start': 'SessionStart',
  'before-tool': 'PreToolUse',
  'session-end': 'SessionEnd',
  prompt: 'UserPromptSubmit',
  'turn-end': 'Stop',
  waiting: { event: 'Notification', matcher: 'permission_prompt' },
}

export const claudeHooks: HookRule = {
  kind: 'settings',
  path: (env) => join(folderOf(env, 'CLAUDE_CONFIG_DIR', '.claude'), 'settings.json'),
  // Some seconds after the question, if nobody has answered by then.
  events: { ...CLAUDE, waiting: { event: 'Notification', matcher: 'permission_prompt|elicitation_dialog|elicitation_url_dialog|agent_needs_input' } },
  note: null,
}

export const codexHooks: HookRule = {
  kind: 'settings',
  path: (env) => join(folderOf(env, 'CODEX_HOME', '.codex'), 'hooks.json'),
  // It has no notifications; this one may decide, too, and says nothing.
  events: { ...CLAUDE, waiting: 'PermissionRequest' },
  trusts: codexTrusts,
  note: 'codex runs no hook that you have not trusted: start codex once and choose "Trust all and continue" (or look at them with /hooks); until then, and whenever one changes, it leaves that one out without a word',
}

export const geminiHooks: HookRule = {
  kind: 'settings',
  path: (env) => join(env['GEMINI_CLI_HOME'] || homeOf(env), '.gemini', 'settings.json'),
  events: {
    ...CLAUDE,
    'before-tool': 'BeforeTool',
    prompt: 'BeforeAgent',
    'turn-end': 'AfterAgent',
    waiting: { event: 'Notification', matcher: 'ToolPermission' },
  },
  note: null,
}

export const qwenHooks: HookRule = {
  kind: 'settings',
  path: (env) => join(folderOf(env, 'QWEN_HOME', '.qwen'), 'settings.json'),
  events: CLAUDE,
  note: null,
}

export const droidHooks: HookRule = {
  kind: 'settings',
  path: (env) => join(homeOf(env), '.factory', 'settings.json'),
  // Its notifications have no kinds; those of one that is idle are told apart by that.
  events: { ...CLAUDE, waiting: 'Notification' },
  note: null,
}

export const copilotHooks: HookRule = {
  kind: 'file',
  path: (env) => join(folderOf(env, 'COPILOT_HOME', '.copilot'), 'hooks', 'holdfast.json'),
  content: (command) => {
    const hook = (event: HookEvent, matcher?: string) => [{ type: 'command', ...(matcher === undefined ? {} : { matcher }), bash: command(event) }]
    const hooks = {
      sessionStart: hook('session-start'),
      preToolUse: hook('before-tool'),
      sessionEnd: hook('session-end'),
      userPromptSubmitted: hook('prompt'),
      agentStop: hook('turn-end'),
      notification: hook('waiting', 'permission_prompt|elicitation_dialog'),
    }
    return file({ version: 1, hooks })
  },
  note: null,
}

export const grokHooks: HookRule = {
  kind: 'file',
  path: (env) => join(folderOf(env, 'GROK_HOME', '.grok'), 'hooks', 'holdfast.json'),
  content: (command) => {
    const group = (event: HookEvent) => [{ hooks: [{ type: 'command', command: command(event) }] }]
    const hooks = {
      SessionStart: group('session-start'),
      PreToolUse: group('before-tool'),
      SessionEnd: group('session-end'),
      UserPromptSubmit: group('prompt'),
      // What its notifications are about, it does not say.
      Stop: group('turn-end'),
    }
    return file({ hooks })
  },
  note: null,
}

const pluginNote = (name: string): string =>
  `with any plugin, ${name} sees to its own plugin package at each start: some seconds the first time, and about a minute whenever there is no network`

export const opencodeHooks: HookRule = {
  kind: 'file',
  path: (env) => join(folderOf(env, 'XDG_CONFIG_HOME', '.config'), 'opencode', 'plugins', 'holdfast.js'),
  content: openCodePlugin,
  note: pluginNote('opencode'),
}

export const kiloHooks: HookRule = {
  kind: 'file',
  path: (env) => join(folderOf(env, 'XDG_CONFIG_HOME', '.config'), 'kilo', 'plugins', 'holdfast.js'),
  content: openCodePlugin,
  note: pluginNote('kilo'),
}

const file = (content: unknown): string => `${JSON.stringify(content, null, 2)}\n`
