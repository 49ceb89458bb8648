import type { OwnProcess, ProcessId } from '../../model/index.ts'
import { isRunMarker } from '../../model/index.ts'

/** The shell that waits to become the keeper, with the marker and cookie it already carries. */
export type Front = {
  readonly keeper: ProcessId
  readonly marker: number | null
  readonly cookie: string
  /** The marker it was born with. */
  readonly outer: number | null
  /** The numbers of the signals that its caller ignores. */
  readonly ignores: ReadonlySet<number>
}

/** The commands that bin/holdfast waits for. */
const HAS_FRONT = /^(run$|resume$|restart$|--)/

/**
 * What the variable says, if its own process can have said it: an inherited one names another pid, and anybody can write one. We have the
 * marker that our front has taken; where it could take none, we have the one that it was born with.
 */
export function frontIn(
  env: NodeJS.ProcessEnv,
  process: Pick<OwnProcess, 'parent' | 'verb'>,
  own: () => number | null | undefined,
): RegExpExecArray | null {
  const match = /^(\d+) (\d+|-) ([0-9a-f-]{36}) (\S+) ([0-9a-f]+|-)$/.exec(env['HOLDFAST_FRONT'] ?? '')
  if (match === null || Number(match[1]) !== process.parent() || !HAS_FRONT.test(process.verb())) return null
  const marker = own()
  return (match[2] === '-' ? markerIn(match[4] ?? '') === asRunMarker(marker) : Number(match[2]) === marker) ? match : null
}

export const asRunMarker = (marker: number | null | undefined): number | null => (typeof marker === 'number' && isRunMarker(marker) ? marker : null)
export const markerIn = (text: string): number | null => (/^\d+$/.test(text) ? asRunMarker(Number(text)) : null)
