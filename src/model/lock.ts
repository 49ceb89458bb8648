/** A directory by what it is, not by what it is called. */
export type DirectoryKey = { readonly device: string; readonly inode: string }

/** A directory held by a run, for exactly as long as that run lives. */
export type Lock = DirectoryKey & {
  readonly dir: string
  readonly session: string
  readonly run: string
  readonly since: number
  readonly kind: 'run'
  readonly reason: string
  /** Taken with --share, beside another holder. */
  readonly shared: boolean
}
