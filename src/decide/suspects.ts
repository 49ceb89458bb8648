import type { Member, ProcessRow, Suspect } from '../model/index.ts'
import { isDead } from '../model/index.ts'

/** What suspects are looked for by. `ports`: those that members of the run listen or listened on. */
export type Clues = {
  readonly dir: string
  readonly cookie: string
  readonly marker: number | null
  readonly uid: number
  readonly ports: ReadonlySet<number>
  readonly members: readonly Member[]
  /** Processes that are somebody else's for certain: other runs, helpers, ourselves. Asked only of those that something speaks for. */
  readonly exempt: (row: ProcessRow) => boolean
  /** Is this process on a terminal? */
  readonly isOnTerminal: (row: ProcessRow) => boolean
  /** Born later, it cannot have been left by the run; null: the run is not over. */
  readonly until: number | null
  /** Why its marker is not believed, by pid. */
  readonly doubts?: ReadonlyMap<number, string>
  readonly cwd: (pid: number) => string | null
  readonly listens: (pid: number) => readonly number[]
}

/**
 * Who looks related without proof: by secret, directory or port. What is older than the run cannot be of it, and is not looked at. A directory
 * and a port alone say nothing of a shell on a terminal, of a terminal's server, or of what was born after the run: people work there.
 */
export function suspectsOf(rows: readonly ProcessRow[], since: number, clues: Clues): Suspect[] {
  const members = new Set(clues.members.map(({ row }) => row.pid))
  const byPid = new Map(rows.map((row) => [row.pid, row]))
  const candidates = rows.filter((row) => row.ticks >= since && !isDead(row.state) && !members.has(row.pid))
  return candidates.flatMap((row) => {
    const marks = marksOf(row, clues)
    const pro = isPersons(row, clues) ? marks : [...marks, ...looksOf(row, clues)]
    return pro.length === 0 || clues.exempt(row) ? [] : [{ row, pro, contra: speaksAgainst(row, byPid.get(row.parent), members, clues) }]
  })
}

const SECRET = 'has the secret of this run in its environment'
const MARKED = 'carries its marker'

/** Why a process may be left of a run that was ended; null: nothing speaks for that. `doubt`: why its secret or its marker is not believed. */
export function whyLeft(hasSecret: boolean, isMarked: boolean, doubt: string | null): Pick<Suspect, 'pro' | 'contra'> | null {
  if (!hasSecret && !isMarked) return null
  return { pro: [...(hasSecret ? [SECRET] : []), ...(isMarked ? [MARKED] : [])], contra: [doubt ?? 'nothing else proves it'] }
}

const marksOf = (row: ProcessRow, { cookie, marker }: Clues): string[] => [
  ...(row.cookie === cookie ? [SECRET] : []),
  ...(marker !== null && row.marker === marker ? [MARKED] : []),
]

function looksOf(row: ProcessRow, { dir, ports, cwd, listens }: Clues): string[] {
  const where = cwd(row.pid)
  const shared = listens(row.pid).filter((port) => ports.has(port))
  return [
    ...(where !== null && (where === dir || where.startsWith(`${dir}/`)) ? [`works in ${where}`] : []),
    ...shared.map((port) => `listens on port ${port}, which this session opened`),
  ]
}

const SHELLS = ['sh', 'bash', 'zsh', 'fish', 'dash', 'ash', 'ksh', 'mksh', 'csh', 'tcsh', 'nu', 'pwsh', 'elvish', 'xonsh']
const TERMINAL_SERVERS = ['tmux', 'tmux: server', 'tmux: client', 'screen', 'SCREEN', 'zellij', 'abduco', 'dtach', 'byobu']

/** A login shell is called `-bash`. */
const isPersons = (row: ProcessRow, { until, isOnTerminal }: Clues): boolean =>
  (until !== null && row.ticks > until) || TERMINAL_SERVERS.includes(row.name) || (SHELLS.includes(row.name.replace(/^-/, '')) && isOnTerminal(row))

function speaksAgainst(row: ProcessRow, parent: ProcessRow | undefined, members: ReadonlySet<number>, { marker, uid, doubts }: Clues): string[] {
  return [
    ...(marker !== null && row.marker !== marker ? ['does not have its marker'] : []),
    ...(row.uid === uid ? [] : [`belongs to uid ${row.uid}`]),
    ...(doubts?.get(row.pid) === undefined ? [] : [doubts.get(row.pid) as string]),
    ...(parent !== undefined && parent.pid > 1 && !members.has(parent.pid)
      ? [`was started by ${parent.name} (pid ${parent.pid}), which is not of it`]
      : []),
  ]
}
