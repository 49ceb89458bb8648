import { whyLeft } from '../../decide/index.ts'
import type { ProcessRow, RunEnd, Suspect } from '../../model/index.ts'
import { isDead } from '../../model/index.ts'
import type { Lookable, LookPorts } from '../ports.ts'
import { type Counted, censusOfAll, isHere } from './look.ts'

/** The same ends, each with who may be left of its run. One pass for all of them. */
export async function withSuspects<E extends { readonly kind: string }>(ends: readonly E[], eyes: LookPorts): Promise<E[]> {
  const isEnded = (end: E | Ended): end is E & Ended => end.kind === 'ended'
  const runs = ends.filter(isEnded).map(({ run }) => run)
  const left = await suspectsLeft(runs, eyes)
  return ends.map((end) => (isEnded(end) ? { ...end, suspects: left.get(end.run.id) ?? [] } : end))
}
type Ended = Extract<RunEnd, { kind: 'ended' }>

/** Who may be left of runs that were ended: secret or marker speaks for them, and nothing proves it. They are named, never signalled. */
async function suspectsLeft(runs: readonly Lookable[], eyes: LookPorts): Promise<Map<string, Suspect[]>> {
  const around = new Set(eyes.processes.origins().map(({ pid }) => pid))
  const counted = await censusOfAll(
    runs.filter((run) => isHere(run, eyes)),
    eyes,
    true,
  )
  return new Map(counted.map(([run, seen]) => [run.id, suspectsIn(run, seen, around)]))
}

function suspectsIn(run: Lookable, { table, near, doubtful, isOutside, isOnlyInCgroupOf }: Counted, around: ReadonlySet<number>): Suspect[] {
  const hasSecret = ({ pid, cookie }: ProcessRow): boolean =>
    cookie != null && near.secrets(pid).includes(run.cookie) && (cookie === run.cookie || !near.byCookie.has(cookie))
  return table.rows.flatMap((row): Suspect[] => {
    if (isDead(row.state) || around.has(row.pid)) return []
    const elsewhere = isOnlyInCgroupOf(row)
    if (isOutside(row) && elsewhere === null) return []
    const marked = doubtful.find((one) => one.row === row)
    const doubt = marked?.why ?? (elsewhere === null ? null : `is in the cgroup of run ${elsewhere}`)
    const why = whyLeft(hasSecret(row), marked !== undefined, doubt)
    return why === null ? [] : [{ row, ...why }]
  })
}
