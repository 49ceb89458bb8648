import type { Agent } from './agent.ts'
import type { LiveRun } from './run.ts'
import type { Session } from './session.ts'

/**
 * By what it is proven who the caller is, strongest first. `cookie`: its environment has the run's secret and epoch, and it carries the
 * marker; `marker`: it carries that alone; `process`: it was started by the very process that is on record; `registry`: the harness itself
 * lists the agent that it was started by, with the start of that very process.
 */
export type SelfProof = 'cookie' | 'marker' | 'process' | 'registry'

/** Who the caller is, and what proves it; or why nothing does. */
export type Self =
  /** `note`: what its agent should know. */
  | {
      readonly kind: 'session'
      readonly session: Session
      readonly run: LiveRun
      readonly how: SelfProof
      readonly why: string
      readonly note: string | null
    }
  /** An agent that Holdfast did not start. `inside`: the session in which somebody else did. */
  | { readonly kind: 'agent'; readonly agent: Agent; readonly inside: string | null; readonly why: string }
  | { readonly kind: 'nobody'; readonly why: string }
