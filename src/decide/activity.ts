import type { Activity, NotedActivity } from '../model/index.ts'

/** What there is to tell by. */
export type Signs = {
  /** What its hooks said last, and what its harness's registry says. */
  readonly hook: NotedActivity | null
  readonly registry: NotedActivity | null
  /** When its output grew last, where that says something; null: it does not. */
  readonly outputAt: number | null
  /** It ends with its answer: being silent, it may well be at work. */
  readonly headless: boolean
}

/**
 * The later word holds: hooks are not called when a person interrupts a turn or answers a question, and a registry may be written late.
 * Silence is the last resort, and never says that somebody is waited for.
 */
export function activityFrom({ hook, registry, outputAt, headless }: Signs, now: number, quietMs: number): Activity | null {
  if (hook !== null && (registry === null || registry.state === hook.state || registry.since <= hook.since)) return { ...hook, how: 'hook' }
  if (registry !== null) return { ...registry, how: 'registry' }
  if (outputAt === null) return null
  if (now - outputAt < quietMs) return { state: 'busy', since: null, how: 'output' }
  return headless ? null : { state: 'idle', since: outputAt, how: 'output' }
}
