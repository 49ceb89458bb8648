import { isLive, type LiveRun, type Run } from './run.ts'

/** A conversation that can be resumed. Its id is ours; everything else that ever named it is an alias. */
export type Session = {
  readonly id: string
  readonly name: string | null
  readonly epoch: number
  readonly dir: string
  readonly argv: readonly string[]
  readonly createdAt: number
  /** What kind of agent it is of, and the id by which that knows it; null: not known (yet). */
  readonly harness: string | null
  readonly native: string | null
  /** The session that goes on with its conversation. */
  readonly wentTo: string | null
}

/** What a harness, or its output, may call a session: a name, and long enough to be none by chance. */
export const isNativeId = (text: string): boolean => isSessionId(text) && text.length >= 4

/** The id by which a harness itself knows a session. */
export type NativeId = { readonly harness: string; readonly id: string }

/** A session with the run that holds its epoch, if it ever ran. */
export type SessionRecord = { readonly session: Session; readonly run: Run | null }

/** Something else that names a session: a name, a conversation that it has had, or (`former`) an id of ours that it had before. */
export type Alias = { readonly alias: string; readonly former: boolean }

/** The runs among them that are live. */
export const liveRunsOf = (views: readonly SessionRecord[]): LiveRun[] => views.flatMap(({ run }) => (run !== null && isLive(run) ? [run] : []))

export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
export const isSessionId = (text: string): boolean => ID_PATTERN.test(text)
export const ID_GRAMMAR = 'a letter or digit, then up to 127 letters, digits, dots, dashes or underscores'
