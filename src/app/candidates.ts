import type { Candidate, Processes, ProcessRow } from '../model/index.ts'

/** A process as far as telling an agent goes. */
export const candidateOf = (processes: Processes, row: ProcessRow): Candidate => ({
  row,
  argv: processes.arguments(row.pid),
  exe: processes.exe(row.pid),
  cwd: processes.cwd(row.pid),
})
