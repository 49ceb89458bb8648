import type { ProblemTable } from '../exit-code.ts'

/** Problems of sources of requests. */
export const SOURCE_PROBLEMS = {
  'source-url-invalid': { kind: 'badCommand', means: 'The URL of a source is none that a token may be sent to.' },
} as const satisfies ProblemTable
