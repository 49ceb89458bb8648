import type { Lock, SessionView } from '../model/index.ts'
import { isLive } from '../model/index.ts'

/** What must hold in every consistent read of a store. Answers what is broken; empty means sound. */
export function brokenInvariants(views: readonly SessionView[], locks: readonly Lock[]): string[] {
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
  const isWithin = (run: string, ancestor: string): boolean => {
    for (let at = parentOf.get(run) ?? null, depth = 0; at !== null && depth < views.length; at = parentOf.get(at) ?? null, depth++)
      if (at === ancestor) return true
    return false
  }
  const tasks = new Set(views.flatMap(({ run }) => (run !== null && run.task !== null ? [run.id] : [])))
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
    // A run started inside another works in its directory by delegation, and a task is no stranger to its family there.
    const isFamily = (a: string, b: string): boolean => (tasks.has(a) || tasks.has(b)) && rootOf(a) === rootOf(b)
    const delegated = other !== undefined && (isWithin(run, other) || isWithin(other, run) || isFamily(run, other))
    if (other !== undefined && !delegated) broken.push(`directory ${directory.path} is locked twice: by ${other} and ${run}`)
    held.set(directory.key, run)
  }
  return broken
}
