import type { ProblemTable } from '../exit-code.ts'

/** Problems of sources of requests. */
export const SOURCE_PROBLEMS = {
  'source-url-invalid': { kind: 'badCommand', means: 'A token may not be sent to the URL of the source.' },
} as const satisfies ProblemTable
