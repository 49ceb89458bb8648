import { type Looked, type LookPorts, lookAtAll } from '../../act/index.ts'
import { endedAt, type Verdict, verdict } from '../../decide/index.ts'
import type { Clock, Directories, Ending, LiveRun, RunRecord, RunRecords, RunRoot, SessionRecord, Store } from '../../model/index.ts'
import { isLive, Problem, policy } from '../../model/index.ts'
import { recordInPassing } from '../world/best-effort-write.ts'
import { catchUp } from './catch-up.ts'
import { compare, recordCompared } from './compare.ts'

type Eyes = Omit<LookPorts, 'liveRoots'> & { readonly clock: Clock; readonly directories: Directories }

/**
 * A store may be older than the truth: deleted, restored from a backup, rolled back. So before anybody uses it, runs that only their directories
 * know are put on record again, and judged. Answers the directories that no row knows and that cannot be read: where their agents work is unknown.
 */
export async function recoverStore(store: Store, eyes: Eyes, as: 'writer' | 'reader'): Promise<readonly string[]> {
  const { runRecords, clock } = eyes
  const { missing, isNew, stamp } = await compare(store, runRecords, clock.now())
  const records = missing.flatMap((id) => runRecords.read(id) ?? [])
  const unreadable = missing.filter((id) => !records.some((record) => record.id === id))
  try {
    if (isNew) await catchUp(store, eyes)
    await recordKeepers(store, eyes)
    if (records.length > 0) await restore(store, records, eyes)
    if (isNew || stamp !== null) await recordCompared(store, runRecords, unreadable.length === 0 ? stamp : null)
  } catch (error) {
    // A reader claims nothing: it waits only where it would not see what lives, and the next one does the rest.
    if (as === 'writer' || !(error instanceof Problem) || error.id !== 'store-busy') throw error
    if (records.length > 0) await restore(store, records, eyes)
  }
  return unreadable
}

async function restore(store: Store, records: readonly RunRecord[], eyes: Eyes): Promise<void> {
  // First what the store itself calls live, and is not: its session may have gone on under another id.
  const owners = await settle(store, await liveRuns(store), eyes)
  const mounts = eyes.directories.mounts()
  await store.claims.restore(
    records.map((record) => ({
      record: beside(record, owners),
      directory: eyes.directories.look(record.dir, mounts),
      native: eyes.agentState.natives(record.id).at(-1) ?? null,
    })),
    eyes.clock.now(),
  )
  const back = new Set(records.map(({ id }) => id))
  const live = await liveRuns(store)
  const newest = new Map(live.map(({ session }) => [session.id, session.epoch]))
  await settle(
    store,
    live.filter(({ run, session }) => back.has(run.id) || run.epoch < (newest.get(session.id) ?? 0)),
    eyes,
  )
}

type LiveView = SessionRecord & { readonly run: LiveRun }

const liveRuns = async (store: Store): Promise<LiveView[]> =>
  (await store.runs.live(policy.sessionsShown)).views.filter((view): view is LiveView => view.run !== null && isLive(view.run))

/** What is proven over is recorded so. Answers the sessions that have a live owner for certain. */
async function settle(store: Store, views: readonly LiveView[], eyes: Eyes): Promise<ReadonlySet<string>> {
  const roots = await store.runs.roots()
  const looked = await lookAtAll(
    views.map(({ run }) => run),
    { ...eyes, liveRoots: async () => roots },
  )
  const record = recordInPassing()
  const owners = new Set<string>()
  for (const { run, session } of views) {
    const seen = looked.get(run.id) as Looked
    const judged = verdict(run, seen)
    if (judged.kind === 'alive') owners.add(session.id)
    const ending = endingFor(run, session.epoch, judged)
    const at = endedAt(run, seen.exit, eyes.clock.now())
    if (ending !== null) await record(() => store.claims.recordEnded(run, ending, seen.harnessId, at))
  }
  return owners
}

/**
 * A session with a live owner was not claimed again: a directory that says so is false, or a stray. It becomes a session of its own, so that it can
 * neither hide the owner nor raise the epoch over it.
 */
const beside = (record: RunRecord, owners: ReadonlySet<string>): RunRecord =>
  owners.has(record.session) ? { ...record, session: `${record.session.slice(0, STEM)}.${record.id}`, former: [] } : record
const STEM = 90

/** A later epoch is claimed only over a run that is over: where nothing else can be told, that tells it. */
function endingFor(run: LiveRun, epoch: number, judged: Verdict): Ending | null {
  if (judged.kind === 'over') return judged.ending
  if (judged.kind !== 'unknown' || run.epoch >= epoch) return null
  return {
    state: 'lost',
    exit: null,
    by: 'reconcile',
    reason: 'a later run of its session proves that it was over; how it ended is not on record',
    evidence: [`its session has epoch ${epoch}, which is claimed only over a run that is over`, `unproven: ${judged.why}`],
  }
}

/** An agent, or its exit, proves that the gate has opened. So the keeper was on record, and this store is older than that. */
async function recordKeepers(store: Store, { evidence, clock }: Pick<Eyes, 'clock' | 'evidence'>): Promise<void> {
  for (const run of await store.runs.unkept()) {
    const keeper = evidence.keeper(run.id)
    const hasBegun = evidence.harness(run.id) !== null || evidence.exit(run.id) !== null
    if (keeper === null || !hasBegun) continue
    // Asked again, now that its agent was seen: of many starts at once, each would write what the others have just written.
    const now = await store.runs.get(run.id)
    if (now !== null && isLive(now) && now.keeper === null) await store.claims.recordRunning(now, keeper, clock.now())
  }
}

/** A run as far as its directory tells: on record as it was when it was started. */
export const asLive = (record: RunRecord): LiveRun => ({ ...record, state: record.keeper === null && !record.adopted ? 'starting' : 'running' })

export const readAll = (runRecords: RunRecords): RunRecord[] =>
  runRecords.list().flatMap((id) => {
    const record = runRecords.read(id)
    return record === null ? [] : [record]
  })

const rootsOf = (records: readonly RunRecord[]): RunRoot[] =>
  records.map(({ id, parent, marker, cookie, place, keeper, launcher, adopted, tmux }) => ({
    id,
    parent,
    marker,
    cookie,
    place,
    root: adopted ? launcher : keeper,
    hosted: tmux !== null,
  }))
export const rootsOnDisk = (runRecords: RunRecords): readonly RunRoot[] => rootsOf(readAll(runRecords))
