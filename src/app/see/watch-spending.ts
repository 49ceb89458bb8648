import { isUnwatched, unwatchedTime, type Watchers } from '../../decide/index.ts'
import type { Run, Store, UnwatchedTime } from '../../model/index.ts'
import { isLive, NO_TOKENS, tokensBeyond, totalTokens } from '../../model/index.ts'
import type { TaskView } from '../../show/index.ts'
import { liveNested, liveTask } from '../conversation/nested.ts'
import { nativesOfNested, nestedSpentAt, tokensOfNested } from '../usage/count-nested.ts'
import { countTokens, type Effort, lastWatched } from '../usage/count-tokens.ts'
import { recordInPassing } from '../world/best-effort-write.ts'
import type { World } from '../world/world.ts'

/** The agents that live inside a run, each as a task of it, with what it has burned itself, and whether it does so unwatched. */
export function nestedTasks(world: World, run: Run, effort: Effort, time: UnwatchedTime | null = null): TaskView[] {
  return liveNested(world, run).map((agent): TaskView => {
    const cpu = world.processes.cpu(agent.process)
    const tokens = tokensOfNested(world, run.id, agent, effort)
    const spends = time !== null && isUnwatched(time, nestedSpentAt(world, run.id, agent))
    return {
      run: liveTask(run, agent),
      usage: { cpuMs: cpu === null ? 0 : cpu.ownMs + cpu.childrenMs, whole: false, tokens },
      nested: {
        harness: agent.harness,
        nativeId: nativesOfNested(world, run.id, agent).at(-1)?.id ?? null,
        pid: agent.process.pid,
        startedBy: agent.startedBy,
        ...(spends ? { unwatched: time } : {}),
      },
    }
  })
}

/** What a look at a run has shown. `keeperGone` and `agentGone`: proven. */
export type SeenOfRun = Pick<Watchers, 'activity'> & { readonly keeperGone: boolean; readonly agentGone: boolean }

/** Looks who spends in a run while nobody watches: each is recorded once for each such time. Answers the agents inside. */
export async function watchSpending(world: World, store: Store, run: Run, seen: SeenOfRun, effort: Effort): Promise<TaskView[]> {
  const time = unwatchedTime({
    keeperSeenAt: seen.keeperGone && !run.adopted ? (lastWatched(world, run.id)?.at ?? run.startedAt) : null,
    agentEndedAt: seen.agentGone ? (world.evidence.exit(run.id)?.at ?? null) : null,
    endedAt: isLive(run) ? null : run.endedAt,
    activity: seen.activity,
  })
  const tasks = nestedTasks(world, run, effort, time)
  if (time === null) return tasks
  const record = recordInPassing()
  const now = world.clock.now()
  for (const { run: task, usage, nested } of tasks) {
    if (nested?.unwatched === undefined) continue
    const { harness, pid } = nested
    const tokens = usage?.tokens == null ? 0 : totalTokens(usage.tokens)
    await record(() => store.events.recordUnwatched(run, { ...time, harness, pid, task: task.session, tokens }, now))
  }
  const left = time.why === 'keeper-gone' ? leftBehind(world, run, effort) : 0
  if (left > 0) await record(() => store.events.recordUnwatched(run, { ...time, harness: null, pid: null, task: null, tokens: left }, now))
  return tasks
}

/** What an orphan has burned since its keeper was last seen. */
function leftBehind(world: World, run: Run, effort: Effort): number {
  const now = countTokens(world, run.id, effort, false)
  return now === null ? 0 : totalTokens(tokensBeyond(now.tokens, lastWatched(world, run.id)?.tokens ?? NO_TOKENS))
}
