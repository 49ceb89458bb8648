import type { Environment } from './environment.ts'
import type { ProcessRow } from './fact.ts'
import type { ProcessId } from './identity.ts'

/**
 * A session that a harness's shared daemon works for: by which id the harness knows it, where, since when (null: it does not say), and by
 * which processes, as far as the harness tells who they really are.
 */
export type ServedSession = {
  readonly nativeId: string | null
  /** The id that it had when it was begun, if it has another by now. */
  readonly firstId?: string | null
  readonly dir: string
  readonly since: number | null
  readonly processes: readonly ProcessId[]
  /** The daemon works on it, or would go on with it if its process died; otherwise it only lies ready. */
  readonly active: boolean
  /** The harness's own way to end it, or what it does at the moment; null: there is none. */
  readonly stop: Asking | null
}

/** A daemon that a harness keeps for all of its sessions. `served`: null: it could not be told. `stop`: the harness's own way to end it. */
export type HarnessDaemon = {
  readonly row: ProcessRow
  /** It is not there (any more), or elsewhere; this is one of its workers, which live on without it. */
  readonly worker?: true
  readonly what: string
  readonly harness: string
  readonly served: readonly ServedSession[] | null
  readonly stop: Asking | null
}

/** What a harness is asked its own way: a command of it, or calls (JSON-RPC) on a socket where its daemon listens, one after the other. */
export type Asking =
  | { readonly kind: 'command'; readonly command: readonly string[] }
  | { readonly kind: 'calls'; readonly socket: string; readonly calls: readonly RemoteCall[] }
export type RemoteCall = { readonly method: string; readonly params: Readonly<Record<string, unknown>> }

/** `claude stop 1a2b`, or the name of the call. */
export const describeAsking = (asking: Asking): string =>
  asking.kind === 'command' ? asking.command.join(' ') : asking.calls.map(({ method }) => method).join(', ')

/** What is known of harnesses that keep a shared daemon, whether or not one is there. */
export type HarnessDaemonRules = {
  /** Of each of them: the variable that names a session in all that the session starts; null: it has none. */
  readonly variables: ReadonlyMap<string, string | null>
  /** The session in the shared daemon that has started what has this environment, or the beginning of its first id; null: none. */
  readonly backgroundId: (harness: string, env: Environment) => string | null
  /** The harness whose daemon gets the session of this command, which then ends; null: it keeps its session itself. */
  readonly handsOver: (argv: readonly string[]) => string | null
  /** The harness whose daemon does the work of this command while it lasts, if one is there; null: it does its work itself. */
  readonly worksThrough: (argv: readonly string[]) => string | null
}
