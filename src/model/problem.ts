import { exitCode, type ProblemKind } from './exit-code.ts'
import { PROBLEMS, type ProblemId } from './problem-ids.ts'

/** An expected refusal: a stable id, one clear sentence, and the next step for the reader. */
export class Problem extends Error {
  readonly id: ProblemId
  readonly kind: ProblemKind
  readonly hint: string | null
  readonly detail: Readonly<Record<string, unknown>>

  constructor(id: ProblemId, message: string, more: { hint?: string; cause?: unknown; detail?: Record<string, unknown> } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'Problem'
    this.id = id
    this.kind = PROBLEMS[id].kind
    this.hint = more.hint ?? null
    this.detail = more.detail ?? {}
  }

  get exitCode(): number {
    return exitCode[this.kind]
  }
}
