import type { RequestCause, RequestReason, RequestState } from '../model/index.ts'
import { type Paint, plain } from './paint.ts'

/** Sentences that follow from each other, and the command that comes next. */
export type ExplainedView = {
  readonly id: string
  readonly title: string
  readonly state: RequestState
  readonly cause: RequestCause | null
  readonly reason: RequestReason | null
  readonly because: readonly string[]
  readonly next: { readonly command: string; readonly does: string }
}

export function explainedText({ id, title, state, cause, because, next }: ExplainedView, paint: Paint): string[] {
  return [
    `${paint.bold(id)} ${state}${cause === null ? '' : ` · ${cause}`}  ${plain(title)}`,
    ...because.map((line) => `  ${plain(line)}`),
    `next: ${paint.bold(plain(next.command))}  ${paint.dim(plain(next.does))}`,
  ]
}

/** The stable object of `work explain --json`. */
export const explainedJson = ({ id, title, state, cause, reason, because, next }: ExplainedView): Record<string, unknown> => ({
  id,
  title,
  state,
  cause,
  reason,
  because,
  next: { command: next.command, does: next.does },
})
