import type { ProcessId, ProcessRow, RunRoot } from '../model/index.ts'
import { lineageOfRun, sameProcess } from '../model/index.ts'

/** The live runs on record, and what can be asked about a process that nothing stronger speaks for. */
export type Neighbours = {
  readonly runs: ReadonlyMap<string, RunRoot>
  readonly byRoot: ReadonlyMap<number, RunRoot>
  readonly byMarker: ReadonlyMap<number, RunRoot>
  readonly byCookie: ReadonlyMap<string, RunRoot>
  readonly hosted: readonly RunRoot[]
} & Questions

export type Questions = {
  /** The secrets of all runs that its environment names, outermost first; empty: none, or it cannot be read. */
  readonly secrets: (pid: number) => readonly string[]
  /** The run whose cgroup it is in, by the name of that cgroup. */
  readonly cgroupRun: (pid: number) => string | null
  /** The tmux server that hosts a run, as its record has it. */
  readonly server: (run: string) => ProcessId | null
  /** Our own daemon, which may have been started inside a run. */
  readonly daemon: () => ProcessId | null
  /** This very process, if it was started to work for a run; it belongs to none. */
  readonly helper: ProcessId | null
}

/** `roots`: of this place only; a pid from elsewhere means nothing here. */
export function neighboursFrom(roots: readonly RunRoot[], questions: Questions): Neighbours {
  return {
    ...questions,
    runs: new Map(roots.map((one) => [one.id, one])),
    byRoot: new Map(roots.flatMap((one) => (one.root === null ? [] : [[one.root.pid, one]]))),
    byMarker: new Map(roots.flatMap((one) => (one.marker === null ? [] : [[one.marker, one]]))),
    byCookie: new Map(roots.map((one) => [one.cookie, one])),
    hosted: roots.filter(({ hosted }) => hosted),
  }
}

/** The other run that this very process is the root of. */
export function rootAt(row: ProcessRow, own: string, { byRoot }: Neighbours): RunRoot | null {
  const found = byRoot.get(row.pid)
  return found !== undefined && found.id !== own && found.root !== null && sameProcess(found.root, row) ? found : null
}

/** The tmux server of another run, by its record, and the parent of that run's keeper. Its other panes may be anybody's. */
export function isServerOfOthers(row: ProcessRow, own: string, near: Neighbours, byPid: ReadonlyMap<number, ProcessRow>): boolean {
  if (near.hosted.length === 0) return false
  const parents = parentsOf.get(near) ?? parentsOfKeepers(near, byPid)
  parentsOf.set(near, parents)
  const hosted = parents.get(row.pid)?.filter((id) => id !== own) ?? []
  return hosted.some((id) => {
    const server = near.server(id)
    return server !== null && sameProcess(server, row)
  })
}

/** Once a pass, however many runs are looked for in it: the runs whose keeper has this parent. */
const parentsOf = new WeakMap<Neighbours, ReadonlyMap<number, readonly string[]>>()
function parentsOfKeepers({ hosted }: Neighbours, byPid: ReadonlyMap<number, ProcessRow>): Map<number, string[]> {
  const parents = new Map<number, string[]>()
  for (const { id, root } of hosted) {
    const keeper = root === null ? undefined : byPid.get(root.pid)
    if (keeper === undefined || keeper.ticks !== root?.ticks) continue
    parents.set(keeper.parent, [...(parents.get(keeper.parent) ?? []), id])
  }
  return parents
}

/** Whether `inner` was started, directly or not, in the run `outer`. */
export const isNestedIn = (inner: string, outer: string, { runs }: Neighbours): boolean =>
  inner !== outer && lineageOfRun(inner, runs).includes(outer)

/** Another run, neither around this one nor started in it. */
export const isUnrelated = (other: string, own: string, near: Neighbours): boolean =>
  other !== own && !isNestedIn(other, own, near) && !isNestedIn(own, other, near)
