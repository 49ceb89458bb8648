import { isLive, neverBegan } from '../model/index.ts'
import type { SessionView } from './session-view.ts'

/** How many ended sessions a person sees at once. */
export const ENDED_SHOWN = 20

/** `older`: ended sessions beyond the newest. `neverBegan`: those of which nothing ever ran. */
export type EndedShown = { readonly sights: readonly SessionView[]; readonly older: number; readonly neverBegan: number }

/** The sessions of a list for people: all that may live, and the newest of those that are over. A program gets them all. */
export function endedShown(all: readonly SessionView[], most: number): EndedShown {
  const isOver = ({ run, liveness }: SessionView): boolean => !isLive(run) && liveness === 'dead'
  const began = all.filter((sight) => !isOver(sight) || !neverBegan(sight.run))
  const over = began.filter(isOver)
  const older = new Set(over.toSorted((one, other) => endOf(other) - endOf(one)).slice(most))
  return { sights: began.filter((sight) => !older.has(sight)), older: older.size, neverBegan: all.length - began.length }
}

const endOf = ({ run }: SessionView): number => (isLive(run) ? run.startedAt : run.endedAt)

/** Nothing is left out in silence. */
export const endedShownText = ({ older, neverBegan: never }: EndedShown, most: number): string[] => [
  ...(older === 0 ? [] : [`${older} more ended ${older === 1 ? 'session' : 'sessions'}: holdfast ls --all -n ${most + older}`]),
  ...(never === 0 ? [] : [`${never} ${never === 1 ? 'session' : 'sessions'} never started: holdfast ls --all --json`]),
]
