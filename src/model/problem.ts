/** Exit codes of the command line (sysexits where one fits). */
export const exitCode = {
  done: 0,
  usage: 64,
  noSuchSession: 66,
  unavailable: 69,
  bug: 70,
  held: 75,
  unproven: 76,
  survivors: 79,
} as const
export type ProblemKind = Exclude<keyof typeof exitCode, 'done'>

/** An expected refusal: one clear sentence, and what the reader can do next. */
export class Problem extends Error {
  readonly kind: ProblemKind
  readonly hint: string | null
  readonly detail: Readonly<Record<string, unknown>>

  constructor(kind: ProblemKind, message: string, more: { hint?: string; cause?: unknown; detail?: Record<string, unknown> } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'Problem'
    this.kind = kind
    this.hint = more.hint ?? null
    this.detail = more.detail ?? {}
  }

  get exitCode(): number {
    return exitCode[this.kind]
  }
}
