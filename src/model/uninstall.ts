import type { HookChange } from './hooks.ts'
import type { ServiceRemoved } from './service.ts'

/** What `uninstall` took out, what stays and where, and what could not be taken out. */
export type Uninstalled = {
  readonly hooks: readonly HookChange[]
  readonly service: ServiceRemoved | null
  /** The pid of the daemon that was stopped. */
  readonly daemon: number | null
  /** Completion scripts that were removed. */
  readonly completions: readonly string[]
  readonly left: readonly Remainder[]
  readonly trouble: readonly { readonly message: string; readonly hint: string | null }[]
}

export type Remainder = { readonly what: string; readonly path: string }
