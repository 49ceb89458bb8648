import { seeWithoutStore, type World } from '../app/index.ts'
import { Problem } from '../model/index.ts'
import type { SessionView } from '../show/index.ts'
import type { Parsed } from './options.ts'
import { say, sayProblem, sayProblemJson } from './out.ts'

/** What was seen. `trouble`: why only the run directories could answer; null: the store did. */
export type Seen = { readonly views: SessionView[]; readonly trouble: Problem | null }

/** Without a usable store the run directories give a degraded answer. */
export async function orWithoutStore(
  world: World,
  look: () => Promise<SessionView[]>,
  wanted: (sight: SessionView) => boolean = () => true,
): Promise<Seen> {
  try {
    return { views: await look(), trouble: null }
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'unavailable') throw error
    return { views: (await seeWithoutStore(world)).filter(wanted), trouble: error }
  }
}

/** A program reads one object on stderr, and no lines before it: the notes are in it. */
export function tellTrouble({ flags }: Parsed, trouble: Problem, notes: readonly string[] = []): void {
  if (flags.has('json')) {
    const { id, message, hint, detail } = trouble
    sayProblemJson(new Problem(id, message, { ...(hint === null ? {} : { hint }), detail: notes.length === 0 ? detail : { ...detail, notes } }))
    return
  }
  sayProblem(trouble)
  for (const note of notes) say(note)
}
