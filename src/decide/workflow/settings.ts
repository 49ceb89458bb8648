import { PUBLISH_WAYS, WORKFLOW_DEFAULT, type Workflow, type WorkflowLimits } from '../../model/index.ts'
import { parseDuration } from '../duration.ts'
import { type Keyed, keyed } from './keyed.ts'
import { unusedKeys } from './unused.ts'

/** A workflow, or the sentence that says what is wrong with its settings. */
export type WorkflowRead = { readonly workflow: Workflow } | { readonly trouble: string }

/** The settings of a `WORKFLOW.md` (Symphony's keys, and ours below `holdfast`), from its parsed front matter. Unknown keys are kept for `work check`. */
export function readWorkflow(settings: unknown, prompt: string): WorkflowRead {
  if (settings !== null && !isMap(settings)) return { trouble: 'its front matter is no map of keys and values' }
  try {
    return { workflow: workflowFrom(keyed(settings ?? {}), prompt) }
  } catch (error) {
    return { trouble: (error as Error).message }
  }
}

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

function workflowFrom(keys: Keyed, prompt: string): Workflow {
  const { hooks, states } = WORKFLOW_DEFAULT
  const command = keys.words('holdfast.agent') ?? agentOf(keys.words('codex.command'))
  return {
    prompt: prompt.trim(),
    hooks: {
      afterCreate: keys.text('hooks.after_create'),
      beforeRun: keys.text('hooks.before_run'),
      afterRun: keys.text('hooks.after_run'),
      beforeRemove: keys.text('hooks.before_remove'),
      timeoutMs: keys.count('hooks.timeout_ms', 1, 86_400_000) ?? hooks.timeoutMs,
    },
    agent: command,
    publish: keys.oneOf('holdfast.publish', PUBLISH_WAYS),
    limits: limitsFrom(keys),
    states: { active: keys.list('tracker.active_states') ?? states.active, terminal: keys.list('tracker.terminal_states') ?? states.terminal },
    unused: unusedKeys(keys.names()),
  }
}

/** Symphony talks to `codex app-server`. Holdfast gives the prompt to `codex` itself, so that word and its options go. */
function agentOf(words: readonly string[] | null): readonly string[] | null {
  if (words === null) return null
  const at = words.indexOf('app-server')
  return at < 0 ? words : words.slice(0, at)
}

function limitsFrom(keys: Keyed): WorkflowLimits {
  const { limits } = WORKFLOW_DEFAULT
  const idle = keys.whole('codex.stall_timeout_ms')
  return {
    atOnce: keys.count('agent.max_concurrent_agents', 1, 1_000),
    wallMs: duration(keys, 'holdfast.wall') ?? keys.count('codex.turn_timeout_ms', 1, 30 * 86_400_000) ?? limits.wallMs,
    idleMs: duration(keys, 'holdfast.idle') ?? (idle === null ? limits.idleMs : idle <= 0 ? null : idle),
    noProgressMs: duration(keys, 'holdfast.no_progress') ?? limits.noProgressMs,
    noProgressTokens: keys.count('holdfast.no_progress_tokens', 1, Number.MAX_SAFE_INTEGER),
    rework: keys.count('holdfast.rework', 0, 100) ?? limits.rework,
    attempts: keys.count('holdfast.attempts', 1, 3) ?? limits.attempts,
    backoffMaxMs: keys.count('agent.max_retry_backoff_ms', 1_000, 86_400_000) ?? limits.backoffMaxMs,
    budget: keys.text('holdfast.budget'),
  }
}

function duration(keys: Keyed, key: string): number | null {
  const text = keys.text(key)
  if (text === null) return null
  const ms = parseDuration(text)
  if (ms === null || ms === 0) throw new Error(`${key} is no duration such as 30m: ${text}`)
  return ms
}
