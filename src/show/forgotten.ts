import { plain } from './paint.ts'

type Forgotten = {
  readonly session: string
  readonly runs: number
  readonly worktree: string | null
  readonly left: { readonly path: string; readonly why: string } | null
}

/** `rm`: one line a session, and one for a worktree. */
export const forgottenSessionText = ({ session, runs, worktree, left }: Forgotten): string[] => [
  `session ${session} is forgotten, with ${runs} ${runs === 1 ? 'run' : 'runs'}${worktree === null ? '' : ` and its worktree ${plain(worktree)}`}`,
  ...(left === null ? [] : [`its worktree ${plain(left.path)} stays: ${plain(left.why)}`]),
]
