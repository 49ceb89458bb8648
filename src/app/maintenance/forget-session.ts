import type { Run, Store } from '../../model/index.ts'
import { isLive, Problem } from '../../model/index.ts'
import type { SessionView, WorktreeView } from '../../show/index.ts'
import { judgeLocks } from '../lock/judge-locks.ts'
import { forgottenLocks } from '../lock/trees-without-record.ts'
import { recordChanged } from '../recover/compare.ts'
import { findSeen } from '../see/find-seen.ts'
import { seeFound } from '../see/look-at-sessions.ts'
import { removeUnused } from '../worktree/remove-worktree.ts'
import type { World } from '../world/world.ts'
import { secretHolder } from './prune.ts'

/** `worktree`: the one that was removed with it. `left`: the one that stays, and why. */
export type ForgottenSession = {
  readonly session: string
  readonly runs: number
  readonly worktree: string | null
  readonly left: { readonly path: string; readonly why: string } | null
}

/** A session that is over, and may be forgotten. `worktree`: one of ours, which no other session is of. */
type Forgettable = { readonly view: SessionView; readonly runs: readonly Run[]; readonly worktree: WorktreeView | null }

/** Forgets sessions that are over, with all that was kept of them. All are looked at first: one that is refused leaves the others as they are. */
export async function forgetSessions(world: World, references: readonly string[], keepWorktree: boolean): Promise<ForgottenSession[]> {
  const store = await world.store('writer')
  const found = new Map<string, Forgettable>()
  for (const reference of references) {
    const one = await forgettable(world, store, reference, keepWorktree)
    found.set(one.view.session.id, one)
  }
  const forgotten: ForgottenSession[] = []
  for (const one of found.values()) forgotten.push(await forget(world, store, one))
  return forgotten
}

async function forgettable(world: World, store: Store, reference: string, keepWorktree: boolean): Promise<Forgettable> {
  const view = await seeFound(world, await findSeen(world, reference, 'near'))
  const { session, run, liveness, note } = view
  if (liveness === 'unknown')
    throw new Problem('owner-unproven', `session ${session.id} cannot be proven gone: ${note ?? 'it is on record as live'}; nothing was forgotten`, {
      hint: `if you know that it is gone: holdfast resolve ${session.id} --gone`,
    })
  if (isLive(run))
    throw new Problem('owner-alive', `session ${session.id} is live; nothing was forgotten`, { hint: `holdfast stop ${session.id} ends it` })
  await refuseTree(world, store, session.id)
  const runs = await store.runs.ofSession(session.id, world.policy.retentionRuns)
  for (const { id } of runs) {
    const pid = secretHolder(world, id)
    if (pid !== null)
      throw new Problem('tree-alive', `pid ${pid} has the secret of session ${session.id}, and may ask for its fence; nothing was forgotten`, {
        hint: `holdfast tree ${session.id} --suspects tells of it; holdfast rm ${session.id} once it has ended`,
      })
  }
  const wanted = (await store.requests.list('open', world.policy.requestsShown)).find((request) => request.session === session.id)
  if (wanted !== undefined) throw wantedBy(session.id, wanted.id)
  const worktree = await worktreeOf(world, store, view)
  if (worktree !== null && !keepWorktree) await refuseWork(world, session.id, worktree)
  return { view, runs, worktree: keepWorktree ? null : worktree }
}

/** A tree that lives although its run is over on record. */
async function refuseTree(world: World, store: Store, session: string): Promise<void> {
  const locks = await forgottenLocks(store, session)
  const judged = await judgeLocks(world, locks)
  const held = [...judged.values()].find(({ kind }) => kind !== 'free')
  if (held !== undefined && held.kind !== 'free')
    throw new Problem('tree-alive', `the run of session ${session} is over on record, but its tree is not: ${held.why}; nothing was forgotten`, {
      hint: `holdfast stop ${session} ends it`,
    })
  for (const lock of locks) if (judged.get(lock.seq)?.kind === 'free') await store.locks.free(lock, null, world.clock.now())
}

const wantedBy = (session: string, request: string): Problem =>
  new Problem('session-wanted', `request ${request} is about session ${session}; it was not forgotten`, { hint: `holdfast work show ${request}` })

/** The worktree that goes with it: none, where another session is of the same one. */
async function worktreeOf(world: World, store: Store, { session, worktree = null }: SessionView): Promise<WorktreeView | null> {
  if (worktree === null || !world.directories.exists(worktree.path)) return null
  const { views } = await store.sessions.snapshot('all', world.policy.sessionsShown)
  const isOf = (dir: string): boolean => dir === worktree.path || dir.startsWith(`${worktree.path}/`)
  return views.some((other) => other.session.id !== session.id && isOf(other.session.dir)) ? null : worktree
}

async function refuseWork(world: Pick<World, 'worktrees'>, session: string, { path, branch }: WorktreeView): Promise<void> {
  const state = await world.worktrees.state(path)
  if (state.kind === 'clean' || state.kind === 'half') return
  throw new Problem('worktree-has-work', `the worktree of session ${session} has work that is nowhere else: ${state.why}; nothing was forgotten`, {
    hint: `commit it in ${path}${branch === null ? '' : ` (branch ${branch})`}; or holdfast rm --keep-worktree ${session}`,
  })
}

/** Directories go before rows: one without a row is that of a run which an older store does not know. */
async function forget(world: World, store: Store, { view, runs, worktree }: Forgettable): Promise<ForgottenSession> {
  const { id, epoch } = view.session
  const path = worktree?.path ?? null
  const stays = path === null ? null : await removeUnused(world, store, path)
  for (const run of runs) world.runRecords.remove(run.id)
  const answer = await store.sessions.forget({ session: id, epoch, runs: runs.map((run) => run.id) })
  if (answer.kind === 'wanted') throw wantedBy(id, answer.request)
  if (answer.kind !== 'forgotten')
    throw new Problem('session-changed', `session ${id} was started, or locked, while it was being forgotten`, { hint: `holdfast status ${id}` })
  await recordChanged(store, world.runRecords)
  return {
    session: id,
    runs: runs.length,
    worktree: stays === null ? path : null,
    left: stays === null || path === null ? null : { path, why: stays },
  }
}
