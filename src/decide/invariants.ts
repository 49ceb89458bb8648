import type { Lock, SessionRecord } from '../model/index.ts'
import { isLive } from '../model/index.ts'

/** What must hold in every consistent read of a store. Answers what is broken; empty means sound. */
export function brokenInvariants(views: readonly SessionRecord[], locks: readonly Lock[]): string[] {
  const broken: string[] = []
  const live = new Map<string, string>()
  for (const { session, run } of views) {
    if (run === null) continue
    if (run.epoch > session.epoch) broken.push(`run ${run.id} has epoch ${run.epoch}, its session only ${session.epoch}`)
    if (!isLive(run)) continue
    if (run.epoch !== session.epoch) broken.push(`live run ${run.id} is not the owner of ${session.id}`)
    const other = live.get(session.id)
    if (other !== undefined) broken.push(`session ${session.id} has two live runs: ${other} and ${run.id}`)
    live.set(session.id, run.id)
  }
  const parentOf = new Map(views.flatMap(({ run }) => (run === null ? [] : [[run.id, run.parent] as const])))
  const rootOf = (run: string): string => {
    let root = run
    for (let depth = 0, above = parentOf.get(root) ?? null; above !== null && depth < views.length; above = parentOf.get(root) ?? null, depth++)
      root = above
    return root
  }
  const held = new Map<string, string>()
  for (const { directory, holder, run, shared } of locks) {
    if (shared.length > 0 || holder.kind !== 'run' || run === null) continue
    const other = held.get(directory.key)
    // What is started inside a run works in its directory by delegation.
    if (other !== undefined && rootOf(run) !== rootOf(other)) broken.push(`directory ${directory.path} is locked twice: by ${other} and ${run}`)
    held.set(directory.key, run)
  }
  return broken
}
