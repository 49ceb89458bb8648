import { whyLeft } from '../../decide/index.ts'
import type { Suspect } from '../../model/index.ts'
import { isDead } from '../../model/index.ts'
import type { Lookable, LookPorts } from '../ports.ts'
import { censusOf, isHere } from './look.ts'

/** Who may be left of a run that was ended: its secret or its marker speaks for them, and nothing proves it. They are named, never signalled. */
export async function suspectsLeft(run: Lookable, eyes: LookPorts): Promise<Suspect[]> {
  if (!isHere(run, eyes)) return []
  const { processes } = eyes
  const { table, near, doubtful, isOutside, isOnlyInCgroupOf } = await censusOf(run, eyes, true)
  const around = new Set(processes.origins().map(({ pid }) => pid))
  return table.rows.flatMap((row): Suspect[] => {
    if (isDead(row.state) || around.has(row.pid)) return []
    const marked = doubtful.find((one) => one.row === row)
    const hasSecret =
      row.cookie != null && near.secrets(row.pid).includes(run.cookie) && (row.cookie === run.cookie || !near.byCookie.has(row.cookie ?? ''))
    const elsewhere = isOnlyInCgroupOf(row)
    if (isOutside(row) && elsewhere === null) return []
    const why = whyLeft(hasSecret, marked !== undefined, marked?.why ?? (elsewhere === null ? null : `is in the cgroup of run ${elsewhere}`))
    return why === null ? [] : [{ row, ...why }]
  })
}
