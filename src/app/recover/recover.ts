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
  await settle(store, await liveRuns(store), eyes)
  const mounts = eyes.directories.mounts()
  await store.claims.restore(
    records.map((record) => ({
      record,
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

/** What is proven over is recorded so. */
async function settle(store: Store, views: readonly LiveView[], eyes: Eyes): Promise<void> {
  const roots = await store.runs.roots()
  const looked = await lookAtAll(
    views.map(({ run }) => run),
    { ...eyes, liveRoots: async () => roots },
  )
  const record = recordInPassing()
  for (const { run, session } of views) {
    const seen = looked.get(run.id) as Looked
    const ending = endingFor(run, session.epoch, verdict(run, seen))
    const at = endedAt(run, seen.exit, eyes.clock.now())
    if (ending !== null) await record(() => store.claims.recordEnded(run, ending, seen.harnessId, at))
  }
}

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
    if (keeper !== null && hasBegun) await store.claims.recordRunning(run, keeper, clock.now())
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
