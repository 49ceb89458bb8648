import type { ProblemTable } from '../exit-code.ts'

/** Problems of requests and of what is said about them. */
export const WORK_PROBLEMS = {
  'workflow-missing': { kind: 'notFound', means: 'The default branch of the repository has no `WORKFLOW.md`.' },
  'workflow-broken': { kind: 'badCommand', means: 'The `WORKFLOW.md` of the repository makes no sense.' },
  'request-unknown': { kind: 'notFound', means: 'No request has this id.' },
  'request-ambiguous': { kind: 'notFound', means: 'Several requests begin with this id.' },
  'request-over': { kind: 'held', means: 'The request has ended, and an end is final.' },
  'request-open': { kind: 'held', means: 'The request is still open, so nothing can follow it.' },
  'request-not-running': { kind: 'held', means: 'No agent works on the request, so there is no result of it.' },
  'request-none-around': { kind: 'notFound', means: 'The session of the caller works on no request.' },
  'request-claim-late': { kind: 'held', means: 'The caller worked on an earlier claim of the request.' },
  'feedback-unknown': { kind: 'notFound', means: 'No feedback has this id.' },
  'feedback-not-undelivered': { kind: 'held', means: 'The feedback has arrived, or is on its way, so it is not sent again.' },
  'repository-unborn': { kind: 'badCommand', means: 'The repository has no commit from which a branch could be made.' },
  'repository-unproven': { kind: 'unproven', means: 'Git could not tell which commit the repository is at.' },
} as const satisfies ProblemTable
