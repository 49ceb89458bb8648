import type { Environment } from '../../model/index.ts'

/** How a harness is spoken to by its hooks, and how its hooks are read. */
export type HookWords = {
  /** The answer to a prompt: for the model and, where there is a way, for the person. Null: the harness throws it away. */
  readonly atPrompt: (text: string) => string | null
  /** The answer before a tool. Null: the model does not hear it, so notices wait for the next prompt. */
  readonly beforeTool: ((text: string) => string) | null
  /** A denial as JSON on stdout. Null: plain text on stderr, with exit code 2. */
  readonly denial: ((text: string) => string) | null
  /** Sign of a shared daemon that calls for many sessions: a variable that it sets, or the first argument of a process above the hook. */
  readonly shared: { readonly by: 'variable' | 'above'; readonly word: string } | null
  /** False: its notifications do not say what they are about. */
  readonly asks: boolean
}

/** Claude's form: a line that the person sees, and the same for the model. */
const claudeForm =
  (hookEventName: string) =>
  (text: string): string =>
    JSON.stringify({ systemMessage: text, hookSpecificOutput: { hookEventName, additionalContext: text } })

const CLAUDE: HookWords = {
  atPrompt: claudeForm('UserPromptSubmit'),
  beforeTool: claudeForm('PreToolUse'),
  denial: null,
  shared: null,
  asks: true,
}
const contextOnly = (text: string): string => JSON.stringify({ additionalContext: text })
const PLUGIN: HookWords = { ...CLAUDE, atPrompt: (text) => text, beforeTool: null }

export const HOOK_WORDS: Readonly<Record<string, HookWords>> = {
  claude: { ...CLAUDE, shared: { by: 'variable', word: 'CLAUDE_JOB_DIR' } },
  codex: { ...CLAUDE, shared: { by: 'above', word: 'app-server' } },
  // Gemini takes exit code 2 for a hook that failed.
  gemini: {
    ...CLAUDE,
    atPrompt: claudeForm('BeforeAgent'),
    beforeTool: null,
    denial: (text) => JSON.stringify({ decision: 'deny', reason: text }),
  },
  qwen: { ...CLAUDE, beforeTool: null },
  droid: { ...CLAUDE, beforeTool: null },
  copilot: {
    ...CLAUDE,
    atPrompt: contextOnly,
    beforeTool: contextOnly,
    denial: (text) => JSON.stringify({ permissionDecision: 'deny', permissionDecisionReason: text }),
  },
  grok: { ...CLAUDE, atPrompt: () => null, asks: false },
  opencode: PLUGIN,
  kilo: PLUGIN,
}

/** Grok also runs the hooks in Claude's settings. */
export const callingHarness = (named: string, env: Environment): string => (named === 'claude' && env['GROK_HOOK_EVENT'] ? 'grok' : named)

/** The denial in each form, by file name: `denial` goes to stderr with exit code 2, `denial.HARNESS` to stdout with exit code 0. */
export function denialFiles(text: string): Readonly<Record<string, string>> {
  const own = Object.entries(HOOK_WORDS).flatMap(([name, { denial }]) => (denial === null ? [] : [[`denial.${name}`, `${denial(text)}\n`]]))
  return { denial: `${text}\n`, ...(Object.fromEntries(own) as Record<string, string>) }
}

/** The facts that hook.sh needs, a line each: `HARNESS variable NAME`, `HARNESS above WORD`, `HARNESS deaf`. */
export const HOOK_FACTS: string = Object.entries(HOOK_WORDS)
  .flatMap(([name, { shared, beforeTool }]) => [
    ...(shared === null ? [] : [`${name} ${shared.by} ${shared.word}\n`]),
    ...(beforeTool === null ? [`${name} deaf\n`] : []),
  ])
  .join('')
