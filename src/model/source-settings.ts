import type { SecretRef } from './secret.ts'

/** A source in config.toml (`[source.NAME]`). */
export type SourceSettings = {
  readonly name: string
  readonly kind: 'http'
  readonly url: string
  readonly token: SecretRef | null
  /** The directory of items without a repository; null: such items are left. */
  readonly repo: string | null
  /** Directories by the name that the source has for a repository. */
  readonly repositories: Readonly<Record<string, string>>
  /** Only items with any of these labels; empty: all. */
  readonly labels: readonly string[]
  readonly harness: string
  readonly publish: 'branch' | 'none'
  readonly review: boolean
  readonly reworkLimit: number
  /** So many of its requests may be open here at the same time. */
  readonly open: number
}
