/** What the world answered about one process. Unknown is an answer of its own and never means gone. */
export type Fact =
  | { readonly kind: 'alive'; readonly frozen: boolean }
  | { readonly kind: 'gone'; readonly why: string; readonly waitStatus: number | null }
  | { readonly kind: 'unknown'; readonly why: string }

/** One raw look at a pid, before it is compared with a record. */
export type Sample =
  | { readonly kind: 'absent' }
  | { readonly kind: 'hidden'; readonly why: string }
  | { readonly kind: 'seen'; readonly row: ProcessRow }

/** One line of the process table. */
export type ProcessRow = {
  readonly pid: number
  readonly ticks: number
  readonly state: string
  readonly parent: number
  readonly group: number
  readonly session: number
  readonly uid: number
  readonly name: string
  /** The wait status a zombie carries, where we may read it. */
  readonly waitStatus: number | null
  /** RLIMIT_RTTIME soft value, if it is one of ours; null: none; undefined: not looked at. */
  readonly marker?: number | null
  /** The innermost run secret of its environment; undefined: not looked at or unreadable. */
  readonly cookie?: string | null
  /** Set when something that should have been readable was not. */
  readonly unreadable?: string
}

/** One pass over all processes. `blind` says why the pass cannot prove absence. */
export type ProcessTable = { readonly rows: readonly ProcessRow[]; readonly blind: string | null }

export const isDead = (state: string): boolean => state === 'Z' || state === 'X' || state === 'x'
export const isFrozen = (state: string): boolean => state === 'T' || state === 't'

/** How a process is known to belong to a run, strongest first. */
export type Proof = 'cgroup' | 'marker' | 'cookie' | 'recorded' | 'harness-id' | 'descendant' | 'session' | 'journal'

/** `ports`: those it listens on, where that was looked at. */
export type Member = { readonly row: ProcessRow; readonly proof: Proof; readonly ports?: readonly number[] }
/** `node (pid 12, port 3000)` */
export const describeMember = ({ row, ports = [] }: Member): string =>
  `${row.name} (pid ${row.pid}${ports.length === 0 ? '' : `, port${ports.length === 1 ? '' : 's'} ${ports.join(', ')}`})`

/** Who listened is what people want to know. */
export const portsFirst = (members: readonly Member[]): Member[] =>
  members.toSorted((a, b) => Math.sign(b.ports?.length ?? 0) - Math.sign(a.ports?.length ?? 0))

/** What looks related, with what speaks for that and what against. */
export type Suspect = { readonly row: ProcessRow; readonly pro: readonly string[]; readonly contra: readonly string[] }

/** Born inside a run, but not ours to end, and why. */
export type Spared = { readonly row: ProcessRow; readonly why: string }

/** A session that a harness's shared daemon still works on: there is nobody to signal, only the daemon, which is not ours. */
export type Served = { readonly row: ProcessRow; readonly why: string }

/** What is left of a run's tree. Only `empty` is proof. `served`: what a shared daemon still does for it. */
export type Tree =
  | { readonly kind: 'empty'; readonly spared?: readonly Spared[] }
  | { readonly kind: 'members'; readonly members: readonly Member[]; readonly served?: readonly Served[] }
  | { readonly kind: 'unknown'; readonly why: string }
