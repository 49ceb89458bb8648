import { type Paint, plain } from './paint.ts'
import type { Sight } from './sight.ts'
import { type Cell, shorten, table } from './table.ts'
import { age, iso } from './time.ts'

/** Another live session, as it was just seen. */
export type SiblingSight = { readonly sight: Sight }

const DIR_WIDTH = 40

/** `siblings`: a line each; of many, so many and the count. */
export function siblingsText({ siblings }: { readonly siblings: readonly SiblingSight[] }, most: number, now: number, paint: Paint): string[] {
  if (siblings.length === 0) return [paint.dim('no siblings')]
  const head: Cell[] = ['SESSION', 'PID', 'AGE', 'DIRECTORY'].map((text) => ({ text, paint: paint.dim }))
  const rows = siblings
    .slice(0, most)
    .map(({ sight: { session, run, pid } }): Cell[] => [
      { text: session.id, paint: paint.bold },
      { text: String(pid ?? '-') },
      { text: age(now - run.startedAt) },
      { text: shorten(plain(run.dir), DIR_WIDTH) },
    ])
  return [...table([head, ...rows]), ...(siblings.length > most ? [paint.dim(`${most} of ${siblings.length}`)] : [])]
}

/** The stable object of each entry of `siblings --json`. */
export const siblingJson = ({ sight: { session, run, pid, liveness } }: SiblingSight): Record<string, unknown> => ({
  session: session.id,
  pid,
  dir: run.dir,
  harness: session.harness,
  since: iso(run.startedAt),
  liveness,
})
