import type { ProblemTable } from '../exit-code.ts'

/** Faults of the world around Holdfast. */
export const SYSTEM_PROBLEMS = {
  'system-refused': { kind: 'unavailable', means: 'The system refused a file, a process, memory or access that Holdfast needs.' },
  'proc-missing': { kind: 'unavailable', means: '`/proc` is not there, so no process can be looked at.' },
} as const satisfies ProblemTable
