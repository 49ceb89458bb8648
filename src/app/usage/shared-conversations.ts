import { windowsOf } from '../../decide/index.ts'
import type { DoubtfulTime, Harness, NativeId, Run, Store, UsageMark } from '../../model/index.ts'
import { isLive } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { type Counting, countTokens, type Doubts, NO_DOUBTS } from './count-tokens.ts'
import { beginUsageLate, keyOf, marksOf, placesOf, recordMark } from './usage-baseline.ts'

type Sharing = Counting & Pick<World, 'directories'>

/** Another run in whose marks a conversation is. `key`: as it is called there: agents inside have a word before it. */
type Other = { readonly run: Run; readonly key: string; readonly until: number | null }

/** A run's agent has gone to a conversation. `isTold`: it says so itself, right now; else it may have been there for a while. */
export async function countFrom(
  world: Sharing,
  store: Store,
  run: Run,
  { harness, native, before, isTold }: { harness: Harness; native: NativeId; before: NativeId | null; isTold: boolean },
): Promise<void> {
  const now = world.clock.now()
  const leftAt = isTold ? now : Math.min(now, bornIn(world, run, harness, native) ?? now)
  if (before !== null) await leave(world, run.id, keyOf(before), leftAt)
  const others = await othersWith(world, store, run.id, keyOf(native))
  const fromStart = before === null && names(run, native)
  const over = others.flatMap(({ run: other, until }) =>
    isLive(other) ? (fromStart ? [] : (until ?? [])) : Math.min(other.endedAt, until ?? other.endedAt),
  )
  const own = windowsOf(marksOf(world, run.id), keyOf(native)).at(-1)?.until ?? run.startedAt
  const since = Math.max(run.startedAt, own, ...over)
  for (const other of others) {
    if (!isLive(other.run)) continue
    await leave(world, other.run.id, other.key, since)
    // When it left was only seen later: until then either may have spent there.
    if (!isTold && since > run.startedAt) share(world, other.run.id, other.key, { from: run.startedAt, to: since, with: run.id })
  }
  beginUsageLate(world, run, harness, native.id, since)
}

/** A run is about to begin with a conversation: what others had of it ends here. */
export async function leaveToNext(world: Counting, store: Store, run: Pick<Run, 'id' | 'startedAt'>, native: NativeId): Promise<void> {
  for (const other of await othersWith(world, store, run.id, keyOf(native)))
    if (isLive(other.run)) await leave(world, other.run.id, other.key, run.startedAt)
}

/** Another run may spend in a conversation that this one has: what is written there meanwhile is never a reason to end this one. */
export function doubt(world: Pick<World, 'usageFiles'>, owner: Run, native: NativeId, other: Pick<Run, 'id' | 'startedAt'>): void {
  const isKnown = marksOf(world, owner.id).some(
    (mark) => 'shared' in mark && mark.shared === keyOf(native) && mark.with === other.id && mark.to === null,
  )
  if (!isKnown) share(world, owner.id, keyOf(native), { from: other.startedAt, to: null, with: other.id })
}

const share = (world: Pick<World, 'usageFiles'>, run: string, key: string, time: DoubtfulTime & { readonly with: string }): void =>
  recordMark(world, run, { shared: key, ...time })

/** When others may have spent in a run's conversations: as long as they live, and no longer. */
export async function doubtsOf(world: Pick<World, 'usageFiles'>, store: Store, run: string): Promise<Doubts> {
  const shared = marksOf(world, run).flatMap((mark) => ('shared' in mark ? [mark] : []))
  if (shared.length === 0) return NO_DOUBTS
  const doubts = new Map<string, DoubtfulTime[]>()
  for (const { shared: key, from, to, with: id } of shared) {
    const other = to === null ? await store.runs.get(id) : null
    // What is forgotten has ended; when, nobody knows.
    const end = other !== null && !isLive(other) ? other.endedAt : to
    doubts.set(key, [...(doubts.get(key) ?? []), { from, to: end }])
  }
  return doubts
}

/** Totals have no times: they are counted once more before somebody else may add to them. */
async function leave(world: Counting, run: string, key: string, at: number): Promise<void> {
  if (windowsOf(marksOf(world, run), key).every(({ until }) => until !== null && until <= at)) return
  countTokens(world, run, 'all', false)
  recordMark(world, run, { left: key, at })
}

/** All runs on disk that had it, but for one; there are none, nearly always. */
export async function othersWith(world: Counting, store: Store, self: string | null, key: string): Promise<Other[]> {
  const others: Other[] = []
  for (const id of world.runRecords.list()) {
    if (id === self) continue
    const marks = marksOf(world, id)
    const keys = new Set(marks.flatMap((mark) => ('native' in mark && isOf(mark, key) ? [mark.native] : [])))
    const run = keys.size === 0 ? null : await store.runs.get(id)
    if (run !== null) for (const one of keys) others.push({ run, key: one, until: windowsOf(marks, one).at(-1)?.until ?? null })
  }
  return others
}

const isOf = ({ native }: Extract<UsageMark, { native: string }>, key: string): boolean => native === key || native.endsWith(` ${key}`)

/** Its command line says that it began there, whatever stands before the agent's name. */
const names = ({ argv }: Run, { id }: NativeId): boolean => argv.some((word) => word.includes(id))

/** A conversation that is younger than the run was begun by its agent, which was nowhere else from then on. */
function bornIn({ directories, ...world }: Sharing, run: Run, { usage }: Harness, { id }: NativeId): number | null {
  const [path] = usage === null || usage.kind === 'database' ? [] : usage.files(placesOf(world, run.id), id, 'own')
  const born = path === undefined ? null : directories.bornAt(path)
  return born === null || born < run.startedAt ? null : born
}
