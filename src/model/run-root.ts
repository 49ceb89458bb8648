import type { Place, ProcessId } from './identity.ts'

/** A live run, as far as it can prove from its own side which processes are its own. */
export type RunRoot = {
  readonly id: string
  /** The run that it was started in. */
  readonly parent: string | null
  readonly marker: number | null
  readonly cookie: string
  readonly place: Place
  /** Its keeper or, where it was adopted, its agent: what descends from that is its own. Null: it is not on record yet. */
  readonly root: ProcessId | null
  /** A tmux server hosts it. */
  readonly hosted: boolean
}

/** The run itself and those above it, nearest first, as far as they live. */
export function lineageOfRun(id: string, roots: ReadonlyMap<string, RunRoot>): readonly string[] {
  const ids = [id]
  for (let at = roots.get(id)?.parent ?? null; at !== null && !ids.includes(at); at = roots.get(at)?.parent ?? null) ids.push(at)
  return ids
}
