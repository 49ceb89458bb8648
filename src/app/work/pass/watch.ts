import { endRun } from '../../../act/index.ts'
import { MAX_STEP_MS, watchRun } from '../../../decide/index.ts'
import { BY, type LiveRun, policy, totalTokens, type WatchLimits, type WorkRequest, type WorkSigns } from '../../../model/index.ts'
import { activityOf } from '../../activity/activity.ts'
import type { SeenRuns } from './facts.ts'
import type { Pass } from './worker.ts'

/** Counts the time in which a live agent did nothing, or changed nothing, and ends its run when a limit is over. */
export async function watch(pass: Pass, request: WorkRequest, seen: SeenRuns): Promise<void> {
  const { world, store, memory, done } = pass
  const at = seen.get(request.id)
  const { live } = at ?? {}
  if (live == null || at?.run.kind !== 'live' || at.run.liveness !== 'alive' || request.run !== live.id) return
  const work = await pass.workOf(request.order.repo)
  if (work.kind === 'blocked') return
  const { idleMs, noProgressMs, noProgressTokens } = work.workflow.limits
  const limits: WatchLimits = { idleMs, noProgressMs, noProgressTokens }
  const before = memory.watched.get(live.id) ?? null
  const now = world.clock.elapsed()
  if (before !== null && now - before.at < Math.min(policy.watchEveryMs, shortest(limits) / 4)) return
  const { counted, end } = watchRun(before, await signsOf(pass, request, live), now, limits)
  memory.watched.set(live.id, counted)
  if (end === null) return
  const by = end.reason === 'idle' ? BY.idle : BY.noProgress
  await endRun(live, { ...world, store }, { intent: { end: 'stopped', by, reason: end.why }, graceMs: world.policy.graceMs })
  done.changes.push(`${request.id}: its run was ended: ${end.why}`)
}

const shortest = ({ idleMs, noProgressMs }: WatchLimits): number => Math.min(idleMs ?? MAX_STEP_MS, noProgressMs ?? MAX_STEP_MS)

/** Null: a sign could not be seen. */
async function signsOf({ world, store }: Pass, request: WorkRequest, run: LiveRun): Promise<WorkSigns | null> {
  const { runLogs, cgroups, evidence, tokensOfRun, branches } = world
  const progress = await branches.progress(request.dir === null ? request.order.repo : topOf(world, request.dir))
  if (progress === null) return null
  const path = evidence.cgroup(run.id)
  const cpuMs = path === null ? null : cgroups.cpuMs(path)
  const tokens = tokensOfRun(run.id)
  const found = await store.sessions.find(run.session, 'exact')
  const activity = found.kind === 'found' ? activityOf(world, found.view.session, run, () => null) : null
  return {
    activity: JSON.stringify([runLogs.outputAt(run.id), tokens, activity, cpuMs === null ? null : Math.floor(cpuMs / policy.busyCpuMs)]),
    progress,
    tokens: tokens === null ? null : totalTokens(tokens),
    waits: activity?.state === 'waiting',
  }
}

const topOf = ({ directories }: Pass['world'], dir: string): string => directories.look(dir, directories.mounts())?.repository?.root ?? dir
