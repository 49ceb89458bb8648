import type { ProblemTable } from '../exit-code.ts'

/** Problems of requests and of what is said about them. */
export const WORK_PROBLEMS = {
  'request-unknown': { kind: 'notFound', means: 'No request has this id.' },
  'request-ambiguous': { kind: 'notFound', means: 'Several requests begin with this id.' },
  'request-over': { kind: 'held', means: 'The request has ended, and an end is final.' },
  'repository-unborn': { kind: 'badCommand', means: 'The repository has no commit from which a branch could be made.' },
  'repository-unproven': { kind: 'unproven', means: 'Git could not tell which commit the repository is at.' },
} as const satisfies ProblemTable
