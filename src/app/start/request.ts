import type { OnLive } from '../../decide/index.ts'
import type { Agent, OnRetire, Until } from '../../model/index.ts'

export type StartRequest = {
  /** An id of ours, or the name of an existing session. Left out: a new one. */
  readonly session?: string | undefined
  readonly name?: string | undefined
  readonly dir?: string | undefined
  /** In a linked git worktree of its own; the branch, or '' for one named after the session. */
  readonly worktree?: string | undefined
  /** The command; with `harness`, what is added to that one's own words. */
  readonly argv: readonly string[]
  /** Said without `--`: a command that is not there may be a mistyped agent. */
  readonly mayBeAgent?: boolean | undefined
  /** An agent that we know how to talk to, by its name. */
  readonly harness?: string | undefined
  /** Its conversation with this id goes on (null: it is not known which). `from`: the command line of an earlier run, of which it keeps what it should. */
  readonly resume?: { readonly native: string | null; readonly from: readonly string[] } | undefined
  /** Begin a new conversation also in a session that has one. */
  readonly newConversation?: boolean | undefined
  /** Its prompt, or the file with it (`-`: stdin): then it needs no terminal. */
  readonly prompt?: { readonly text: string } | { readonly file: string } | undefined
  readonly detach: boolean
  /** In a pane of our tmux server, where people can join it; it needs no terminal of its caller. */
  readonly tmux?: boolean | undefined
  readonly onLive: OnLive
  readonly waitMs?: number | undefined
  readonly force?: boolean | undefined
  readonly share?: boolean | undefined
  readonly until?: Until | undefined
  readonly independent?: boolean | undefined
  /** Work beside agents that Holdfast did not start. */
  readonly allowUnmanaged?: boolean | undefined
  /** Takes in what runs already, instead of starting anything. */
  readonly adopt?: Agent | undefined
  /** Makes it a task of the session around the caller. */
  readonly task?: OnRetire | undefined
  readonly timeoutMs?: number | undefined
  /** In tokens. */
  readonly budget?: number | undefined
  /** In US dollars. */
  readonly budgetCost?: number | undefined
  readonly graceMs?: number | undefined
  readonly umask?: number | undefined
}
