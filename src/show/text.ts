import type { Member, ProcessRow, Spared, Suspect } from '../model/index.ts'
import { type Paint, plain } from './paint.ts'
import { type Cell, table } from './table.ts'

/** Nothing is left out in silence. */
export const unreadableText = (run: string, directory: string): string =>
  `run ${run} in the store cannot be read, and is left out; its directory is ${directory}`

/** A run directory that no row knows and that cannot be read. `pid`: a process of it that is alive. `next`: what to type. */
export type UnreadableRun = {
  readonly run: string
  readonly path: string
  readonly pid: number | null
  readonly why: string
  readonly next: string
}
export const unreadableRunText = ({ path, why, next }: UnreadableRun): string =>
  `${plain(path)}/run.json cannot be read, and no row has this run: ${why}; ${next}`

/** What is shown of a session's processes. */
export type TreeView = { readonly members: readonly Member[]; readonly suspects: readonly Suspect[]; readonly spared: readonly Spared[] }

export function treeText({ members, suspects, spared }: TreeView, paint: Paint): string[] {
  if (members.length + suspects.length + spared.length === 0) return [paint.dim('no processes')]
  const depth = depths(members)
  const head: Cell[] = ['PID', 'STATE', 'PROOF', 'PORTS', 'NAME'].map((text) => ({ text, paint: paint.dim }))
  const rows = inOrder(members).map(({ row, proof, ports = [] }): Cell[] => [
    { text: String(row.pid) },
    { text: row.state },
    { text: proof },
    { text: ports.length === 0 ? '-' : ports.join(',') },
    { text: `${'  '.repeat(depth.get(row.pid) ?? 0)}${plain(row.name)}` },
  ])
  const others = (kind: string, row: ProcessRow, why: string): Cell[] => [
    { text: String(row.pid) },
    { text: row.state },
    { text: kind, paint: paint.yellow },
    { text: '-' },
    { text: `${plain(row.name)}  · ${plain(why)}` },
  ]
  return table([
    head,
    ...rows,
    ...spared.map(({ row, why }) => others('spared', row, why)),
    ...suspects.map(({ row, pro, contra }) => others('suspect', row, suspectText(pro, contra))),
  ])
}

export const suspectText = (pro: readonly string[], contra: readonly string[]): string =>
  `for: ${pro.join(', ')}${contra.length === 0 ? '' : `; against: ${contra.join(', ')}`}`

/** Parents before their children. */
function inOrder(members: readonly Member[]): Member[] {
  const pids = new Set(members.map(({ row }) => row.pid))
  const below = (parent: number | null): Member[] =>
    members
      .filter(({ row }) => (parent === null ? !pids.has(row.parent) : row.parent === parent))
      .toSorted((a, b) => a.row.ticks - b.row.ticks || a.row.pid - b.row.pid)
      .flatMap((member) => [member, ...below(member.row.pid)])
  return below(null)
}

function depths(members: readonly Member[]): Map<number, number> {
  const depth = new Map<number, number>()
  for (const { row } of inOrder(members)) depth.set(row.pid, depth.has(row.parent) ? (depth.get(row.parent) ?? 0) + 1 : 0)
  return depth
}
