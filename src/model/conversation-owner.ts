/**
 * That a live process has a harness's session. `proven`: the harness itself says so; `recorded`: Holdfast has it on record;
 * `named`: only its command line does, and it may have gone on to another one since.
 */
export type NativeClaim = {
  readonly harness: string
  readonly nativeId: string
  readonly how: 'proven' | 'recorded' | 'named'
  /** The agent itself, not what launched it. */
  readonly pid: number
  /** Whose member it is; null: nobody's, it is not managed. */
  readonly session: string | null
}

/** One native id with more than one live owner. `certain`: at least two are more than named. */
export type DuplicateOwners = {
  readonly harness: string
  readonly nativeId: string
  readonly owners: readonly NativeClaim[]
  readonly certain: boolean
}
