import type { UnusedKey } from '../../model/index.ts'

/** The keys that Holdfast uses. */
export const USED_KEYS = [
  'agent.max_concurrent_agents',
  'agent.max_retry_backoff_ms',
  'codex.command',
  'codex.stall_timeout_ms',
  'codex.turn_timeout_ms',
  'holdfast.agent',
  'holdfast.attempts',
  'holdfast.budget',
  'holdfast.idle',
  'holdfast.no_progress',
  'holdfast.no_progress_tokens',
  'holdfast.publish',
  'holdfast.rework',
  'holdfast.wall',
  'hooks.after_create',
  'hooks.after_run',
  'hooks.before_remove',
  'hooks.before_run',
  'hooks.timeout_ms',
  'tracker.active_states',
  'tracker.terminal_states',
] as const

/** Keys of the convention that Holdfast leaves alone, by the beginning of their name. */
const KNOWN: readonly (readonly [string, string])[] = [
  ['tracker.', 'sources are set in config.toml, since they need secrets'],
  ['polling.', 'the worker sets its own pace'],
  ['workspace.', 'worktrees are kept below the home of Holdfast'],
  ['agent.max_concurrent_agents_by_state', 'limits go by repository and by label'],
  ['codex.', 'the agent takes its own options: write them in holdfast.agent'],
]

/** The keys that the file has and Holdfast does not use. */
export function unusedKeys(names: readonly string[]): readonly UnusedKey[] {
  return names
    .filter((name) => !USED_KEYS.some((used) => used === name))
    .map((key) => ({ key, why: KNOWN.find(([start]) => key.startsWith(start))?.[1] ?? 'Holdfast knows no such key' }))
}
