import type { Publish, WorkLimits } from './request.ts'

/** After an agent came to its usage limit: go on when it has passed, wait for a person, or end as blocked. */
export const LIMIT_POLICIES = ['resume', 'ask', 'never'] as const
export type LimitPolicy = (typeof LIMIT_POLICIES)[number]

/** `[work]` in config.toml. */
export type WorkConfig = {
  /** Whether the daemon works on requests. */
  readonly daemon: boolean
  /** The agent of a request that names none, with its own arguments; null: the agent that is installed, if it is the only one. */
  readonly agent: readonly string[] | null
  readonly limits: WorkLimits
  readonly publish: Publish
  readonly review: boolean
  readonly reworkLimit: number
  readonly usageLimit: LimitPolicy
}

export const WORK_DEFAULT: WorkConfig = {
  daemon: true,
  agent: null,
  limits: { atOnce: 3, perRepository: 3, perLabel: {} },
  publish: 'none',
  review: false,
  reworkLimit: 3,
  usageLimit: 'resume',
}
