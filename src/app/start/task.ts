import type { OnRetire } from '../../model/index.ts'
import { isLive, Problem } from '../../model/index.ts'
import type { TaskView } from '../../show/index.ts'
import { proveCaller } from '../caller/prove-caller.ts'
import { runAround } from '../caller/who-am-i.ts'
import { learnAll } from '../conversation/learn.ts'
import { findSession } from '../see/find-session.ts'
import { taskView } from '../see/session-detail.ts'
import { nestedTasks } from '../see/watch-spending.ts'
import type { World } from '../world/world.ts'
import { start } from './start.ts'
import type { Started } from './started.ts'

export type TaskRequest = {
  readonly name?: string | undefined
  readonly onRetire: OnRetire
  readonly argv: readonly string[]
  readonly timeoutMs?: number | undefined
  readonly dir?: string | undefined
}

/** A background run of the session around the caller. A name is the session's own: two sessions may both have a `review`. */
export async function startTask(world: World, { name, onRetire, ...request }: TaskRequest): Promise<Started> {
  const caller = await proveCaller(world)
  const { parent } = caller
  if (parent === null)
    throw new Problem('task-outside-session', 'task start belongs inside a session: there is none around this command', {
      hint: 'holdfast run --detach starts a session of its own',
    })
  const session = name === undefined ? undefined : `${parent.session}.${name}`
  const asked = { ...request, ...(session === undefined ? {} : { session }), detach: true, onLive: 'refuse', task: onRetire } as const
  return start(world, asked, undefined, caller)
}

/** Of one session, of the one around the caller, or (outside of any) of all. */
export async function seeTasks(world: World, reference: string | null): Promise<(TaskView & { readonly parent: string })[]> {
  const store = await world.store('reader')
  const around = reference === null ? await runAround(world, 'reader') : null
  const wanted = reference === null ? (around?.session ?? null) : (await findSession(store, reference)).session.id
  await learnAll(world, store)
  const tasks = await store.runs.tasks(wanted === null ? 'live' : 'all', wanted, world.policy.runsShown)
  const { views } = await store.runs.live(world.policy.sessionsShown)
  const inside = views.flatMap(({ run }) => (run !== null && isLive(run) && (wanted === null || run.session === wanted) ? [run] : []))
  const recorded = tasks.map(async (run) => ({
    ...(await taskView(world, run)),
    parent: (run.parent === null ? null : await store.runs.get(run.parent))?.session ?? '-',
  }))
  return [
    ...inside.flatMap((run) => nestedTasks(world, run, 'all').map((task) => ({ ...task, parent: run.session }))),
    ...(await Promise.all(recorded)),
  ]
}
