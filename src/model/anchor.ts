/** What a harness wrote down about one of its processes. One that was killed leaves it behind, and its pid may be somebody else's by now. */
export type Anchor = {
  readonly harness: string
  /** The conversation that it is about, where it tells. */
  readonly nativeId: string | null
  /** The file that tells. */
  readonly path: string
  /** What goes when its process is proven dead. None: it is more than an anchor (the session itself), or meant to stay. */
  readonly files: readonly AnchorFile[]
  readonly says: AnchorWord
}

/** A file as it was read: `stamp` is another one as soon as anything of it is. */
export type AnchorFile = { readonly path: string; readonly stamp: string }

export type AnchorWord =
  /** Null: it does not tell. `pidNamespace` as the kernel writes it: `pid:[4026531836]`. */
  | {
      readonly kind: 'process'
      readonly pid: number
      readonly ticks: number | null
      readonly bootId: string | null
      readonly machine: string | null
      readonly pidNamespace: string | null
      readonly flock: Flock
    }
  /** Only a lock on it tells, and nothing in it. */
  | { readonly kind: 'flock'; readonly flock: Flock }
  | { readonly kind: 'malformed'; readonly why: string }

/** Whether somebody holds the lock that goes with it. `none`: there is no such lock. */
export type Flock = 'held' | 'free' | 'unknown' | 'none'

/** Where a harness keeps its anchors: all of them up to a bound (`whole`: there are no more), and one of them as it is now. */
export type Anchors = {
  readonly list: (env: Readonly<Record<string, string | undefined>>) => { readonly anchors: readonly Anchor[]; readonly whole: boolean }
  /** Null: it is no anchor (any more). */
  readonly read: (path: string) => Anchor | null
}

/** The files that another tool keeps for each of its live processes, as `[pid_files.NAME]` of config.toml describes them. */
export type ToolPidFiles = { readonly name: string; readonly anchors: Anchors }

/** What is true of an anchor. Only `dead` may ever be removed. */
export type AnchorVerdict =
  | { readonly kind: 'alive'; readonly why: string }
  | { readonly kind: 'dead'; readonly why: string }
  /** Nobody holds it, and that is as it should be. */
  | { readonly kind: 'free'; readonly why: string }
  | { readonly kind: 'unknown'; readonly why: string }
  | { readonly kind: 'malformed'; readonly why: string }

/** What is done to files of other programs: each answers null, or the code of what went wrong. */
export interface ForeignFiles {
  /** A name beside it that nobody else uses. */
  aside(path: string): string
  rename(from: string, to: string): string | null
  /** Gives it a second name, unless there is something by that name. */
  link(from: string, to: string): string | null
  remove(path: string): string | null
}
