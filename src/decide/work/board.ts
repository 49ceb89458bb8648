import type { WorkRequest } from '../../model/index.ts'

/** The columns of the board, in their order: what needs a person comes first. */
export const BOARD = ['needs-you', 'running', 'queued', 'waiting', 'done', 'cancelled'] as const
export type BoardColumn = (typeof BOARD)[number]

/** `followed`: another request repeats it or goes on with it, so nobody has to look at it any more. */
export function columnOf({ state, cause, pending }: Pick<WorkRequest, 'state' | 'cause' | 'pending'>, followed: boolean): BoardColumn {
  switch (state) {
    case 'blocked':
      return followed ? 'cancelled' : 'needs-you'
    case 'waiting':
      return pending === 0 && (cause === 'review' || cause === 'feedback') ? 'needs-you' : 'waiting'
    case 'claimed':
    case 'running':
      return 'running'
    default:
      return state
  }
}

/** By column. Open ones stay in the order in which they are taken; those that are over have the newest first. */
export function byColumn<T extends { readonly column: BoardColumn; readonly request: Pick<WorkRequest, 'endedAt'> }>(entries: readonly T[]): T[] {
  const place = ({ column }: T): number => BOARD.indexOf(column)
  return entries.toSorted((a, b) => place(a) - place(b) || (b.request.endedAt ?? 0) - (a.request.endedAt ?? 0))
}
