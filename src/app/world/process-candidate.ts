import type { Candidate, Processes, ProcessRow } from '../../model/index.ts'

/** A process as far as telling an agent goes. */
export const candidateOf = (processes: Processes, row: ProcessRow): Candidate => ({
  row,
  argv: processes.arguments(row.pid),
  exe: processes.exe(row.pid),
  cwd: processes.cwd(row.pid),
  writes: (path) => processes.writes(row.pid, path),
})

/** One pass over all processes, for who they are and not for whose. */
export const everybody = ({ processes }: { readonly processes: Processes }): readonly ProcessRow[] =>
  processes.table({ since: Number.POSITIVE_INFINITY, cookies: false }).rows
