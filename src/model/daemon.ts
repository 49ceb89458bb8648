import type { ProcessRow } from './fact.ts'

/** A session that a harness's shared daemon works for: where, since when (null: it does not say), by which processes, and how the harness itself ends it (null: it cannot). */
export type ServedSession = {
  readonly dir: string
  readonly since: number | null
  readonly pids: readonly number[]
  readonly stop: readonly string[] | null
}

/** A daemon that a harness keeps for all of its sessions. `served`: null: it could not be told. `stop`: the harness's own way to end it. */
export type SharedDaemon = {
  readonly row: ProcessRow
  readonly what: string
  readonly served: readonly ServedSession[] | null
  readonly stop: readonly string[] | null
}
