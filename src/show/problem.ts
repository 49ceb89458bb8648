import { type Problem, type ProblemKind, plain } from '../model/index.ts'
import type { Paint } from './paint.ts'

/** A refusal for people: the sentence, and what to do next. */
export const problemText = ({ message, hint }: Pick<Problem, 'message' | 'hint'>, paint: Paint): string[] => [
  plain(message),
  ...(hint === null ? [] : [`  ${paint.dim(plain(hint))}`]),
]

/** The stable object of a refusal, for programs. */
export const problemJson = ({ id, kind, exitCode, message, hint, detail }: Problem): Record<string, unknown> => ({
  error: PROBLEM_WORDS[kind],
  id,
  code: exitCode,
  message,
  hint,
  ...detail,
})

/** The word for a kind in JSON. Programs read it, so it stays when the internal name changes. */
export const PROBLEM_WORDS: Readonly<Record<ProblemKind, string>> = {
  badCommand: 'usage',
  notFound: 'noSuchSession',
  unavailable: 'unavailable',
  bug: 'bug',
  held: 'held',
  unproven: 'unproven',
  survivors: 'survivors',
}
