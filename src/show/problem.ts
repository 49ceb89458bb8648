import type { Problem } from '../model/index.ts'

/** The stable object of a refusal, for programs. */
export const problemJson = ({ kind, exitCode, message, hint, detail }: Problem): Record<string, unknown> => ({
  error: kind,
  code: exitCode,
  message,
  hint,
  ...detail,
})
