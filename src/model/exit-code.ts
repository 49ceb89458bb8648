/** Exit codes of the command line (sysexits where one fits). */
export const exitCode = {
  done: 0,
  badCommand: 64,
  notFound: 66,
  unavailable: 69,
  bug: 70,
  held: 75,
  unproven: 76,
  survivors: 79,
} as const

/** The kind of a problem decides its exit code. */
export type ProblemKind = Exclude<keyof typeof exitCode, 'done'>

/** The meaning of one problem id. Ids are a contract: an id never disappears and never changes its kind. */
export type ProblemMeaning = { readonly kind: ProblemKind; readonly means: string }
export type ProblemTable = Readonly<Record<string, ProblemMeaning>>
