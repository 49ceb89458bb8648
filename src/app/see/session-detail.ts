import { censusOf, usageOf, withPorts } from '../../act/index.ts'
import type { LiveRun, Member, ProcessId, Run, SessionRecord, Store, Suspect } from '../../model/index.ts'
import { isLive, sameProcess } from '../../model/index.ts'
import type { SessionView, TaskView, TreeView } from '../../show/index.ts'
import { suspectsOfRuns } from '../agent/suspects.ts'
import { learnNative } from '../conversation/conversation.ts'
import { learnAll } from '../conversation/learn.ts'
import { recordEndedNested } from '../conversation/nested.ts'
import { recordInPassing } from '../world/best-effort-write.ts'
import type { World } from '../world/world.ts'
import { findSession } from './find-session.ts'
import { withFirstWords } from './first-words.ts'
import { seeFound } from './look-at-sessions.ts'
import { besideSession } from './see-locks.ts'

/** Everything about one session: with what was started in it, what it has burned, and what holds it together. */
export async function seeDetail(world: World, reference: string): Promise<SessionView> {
  const store = await world.store('reader')
  const seen = await seeFound(world, await findLearned(world, store, reference))
  const sight = withFirstWords(world, [seen])[0] ?? seen
  const { run } = sight
  if (!isLive(run)) await recordInPassing()(() => recordEndedNested(world, store, run))
  const started = await store.runs.startedIn(run.id, world.policy.runsShown)
  return {
    ...sight,
    said: (await store.messages.said([run.id])).get(run.id) ?? { plan: null, result: null },
    ...(await unreadOf(world, store, run.session)),
    usage: await burned(world, run),
    // Those that live inside were seen just now.
    tasks: [...sight.tasks, ...(await Promise.all(started.map((child) => taskView(world, child))))],
    ...(isLive(run) ? { entered: world.evidence.cgroup(run.id) !== null, ...(await besideSession(world, run.session)) } : {}),
  }
}

async function unreadOf({ clock, policy }: World, store: Store, session: string): Promise<Pick<SessionView, 'unread' | 'unreadEarlier'>> {
  const waiting = await store.messages.inbox(session, 'peek', { count: policy.inboxSize, bytes: Number.POSITIVE_INFINITY }, clock.now())
  return { unread: waiting.length, unreadEarlier: waiting.filter(({ sentTo }) => sentTo !== undefined).length }
}

/** Whoever asks about one session gets to know the conversation that it carries, as far as that can be told. */
async function findLearned(world: World, store: Store, reference: string): Promise<SessionRecord> {
  await learnAll(world, store)
  const view = await findSession(store, reference)
  const { run, session } = view
  if (run === null || !isLive(run)) return view
  await learnNative(world, store, run, session)
  // It may have another id now.
  return findSession(store, (await store.runs.get(run.id))?.session ?? session.id, 'exact')
}

export const taskView = async (world: World, run: Run): Promise<TaskView> => ({ run, usage: await burned(world, run) })

async function burned(world: World, run: Run): Promise<TaskView['usage']> {
  if (!isLive(run)) return run.usage ?? null
  // A cgroup counts by itself; without one the members have to be added up.
  const members = world.evidence.cgroup(run.id) === null ? (await censusOf(run, world, false)).members : []
  return usageOf(run, members, world)
}

export type SeenTree = TreeView & {
  readonly sight: SessionView
  readonly tasks: readonly { readonly task: TaskView; readonly members: readonly Member[] }[]
}

/** The processes of a session, with where they listen; those of what was started in it; and, if asked, who looks related. */
export async function seeTree(world: World, reference: string, withSuspects: boolean): Promise<SeenTree> {
  const sight = await seeDetail(world, reference)
  const { run, liveness } = sight
  const suspects: Suspect[] = withSuspects ? ((await suspectsOfRuns(world, [run]))[0]?.[1] ?? []) : []
  if (!isLive(run) || liveness === 'unknown') return { sight, members: [], spared: [], suspects, tasks: [] }
  const { members, spared } = await censusOf(run, world, false)
  const live = sight.tasks.filter(({ run: child }) => isLive(child))
  const below = withPorts(members, world)
  const tasks = await Promise.all(
    live.map(async (task) => ({
      task,
      members: task.nested === undefined ? await membersOf(world, task.run as LiveRun) : membersBelow(below, task.run.launcher),
    })),
  )
  return { sight, members: below, spared, suspects, tasks }
}

/** A process and what it started, as far as that shows. */
function membersBelow(members: readonly Member[], top: ProcessId): Member[] {
  const pids = new Set(members.flatMap(({ row }) => (sameProcess(row, top) ? [row.pid] : [])))
  for (let size = -1; size !== pids.size; ) {
    size = pids.size
    for (const { row } of members) if (pids.has(row.parent)) pids.add(row.pid)
  }
  return members.filter(({ row }) => pids.has(row.pid))
}

const membersOf = async (world: World, run: LiveRun): Promise<readonly Member[]> => withPorts((await censusOf(run, world, false)).members, world)
