import { censusOf } from '../../act/index.ts'
import { choosesSession, isHeadless, judge } from '../../decide/index.ts'
import { argumentsOf, captureNative } from '../../harness/index.ts'
import type { Agent, Ended, Harness, LiveRun, Member, NestedAgent, Run, RunBase, Running, Store, Tokens } from '../../model/index.ts'
import { isLive, sameProcess } from '../../model/index.ts'
import { beginNested, endNested, nativesOfNested } from '../usage/count-nested.ts'
import { isSame, noteNested, noteOver, openNotes } from '../usage/nested-notes.ts'
import type { World } from '../world/world.ts'

/**
 * What a look has seen of the agents inside a run: each is noted, and so is its conversation. `members`: those of the run, where they were just
 * counted; left out: they are counted where one is new.
 */
export async function noteAgents(
  world: World,
  store: Store,
  run: LiveRun,
  inner: readonly Agent[],
  members: readonly Member[] | null = null,
): Promise<void> {
  let counted = members
  const open = openNotes(world, run.id)
  for (const agent of inner) {
    const known = open.find((note) => isSame(note, agent))
    if (known === undefined) counted ??= (await censusOf(run, world, false)).members
    const isOwn = known !== undefined || counted?.some(({ row }) => sameProcess(row, agent.row)) === true
    const nested = isOwn ? (known ?? noteNested(world, run, agent)) : null
    if (nested === null) continue
    const harness = world.harnesses().find(({ name }) => name === nested.harness)
    const id = harness === undefined ? null : idOf(world, run, nested, agent, harness)
    if (harness !== undefined && id !== null) await beginNested(world, store, run, nested, harness, { harness: harness.name, id })
  }
}

/** What it shows; what its command line names, as long as nothing else is known; or what it has begun on its harness's disk. */
function idOf(world: World, run: LiveRun, nested: NestedAgent, agent: Agent, harness: Harness): string | null {
  if (agent.nativeId !== null) return agent.nativeId
  if (nativesOfNested(world, run.id, nested).length > 0) return null
  if (agent.named !== null) return agent.named
  const args = argumentsOf(nested.argv, harness)
  const begins = isHeadless(harness, args) && !choosesSession(harness, args)
  return captureNative(harness, {
    agent: agent.row.pid,
    output: () => null,
    tools: () => null,
    begun: (find) => (begins ? find(nested.env, { dir: nested.dir, since: nested.startedAt }, world.readDatabase) : []),
  })
}

type Recording = Parameters<typeof endNested>[0]

/** Those that are proven to live; `unknown` ones are kept with them. */
export const liveNested = (world: Pick<World, 'processes' | 'usageFiles'>, run: Run): NestedAgent[] =>
  openNotes(world, run.id).filter(({ process }) => judge(world.processes, run.place, process).kind !== 'gone')

/** Agents that ended inside a run come on record, with what they have burned. Answers whether there were any. */
export async function recordEndedNested(world: Recording & Pick<World, 'processes'>, store: Store, run: Run): Promise<boolean> {
  const gone = openNotes(world, run.id).filter(({ process }) => judge(world.processes, run.place, process).kind === 'gone')
  for (const agent of gone) await recordNestedEnd(world, store, run, agent)
  return gone.length > 0
}

/** It may have been on record already: then nothing changes. */
async function recordNestedEnd(world: Recording, store: Store, run: Run, agent: NestedAgent): Promise<void> {
  const tokens = endNested(world, run, agent)
  const native = nativesOfNested(world, run.id, agent).at(-1)?.id ?? null
  await store.claims.recordNested(endedTask(run, agent, tokens, world.clock.now()), agent.harness, native)
  noteOver(world, run.id, agent)
}

/** What it is as a task, without what has become of it. */
function taskBase(run: Run, agent: NestedAgent): RunBase {
  return {
    id: agent.run,
    session: agent.session,
    epoch: 1,
    place: run.place,
    launcher: agent.process,
    marker: null,
    containment: run.containment,
    cookie: '',
    argv: agent.argv,
    dir: agent.dir,
    detached: run.detached,
    until: 'harness',
    deadlineAt: null,
    parent: run.id,
    independent: false,
    task: 'cancel',
    adopted: true,
    budget: null,
    budgetCost: null,
    tmux: null,
    host: run.host,
    user: run.user,
    tty: run.tty,
    startedAt: agent.startedAt,
  }
}

/** As a task that lives. It is on no record: what it is in holds its directory, and ends it. */
export const liveTask = (run: Run, agent: NestedAgent): Running => ({ ...taskBase(run, agent), state: 'running', keeper: null })

/** How it ended, only the process that started it was told, unless it ended with its session. */
function endedTask(run: Run, agent: NestedAgent, tokens: Tokens | null, now: number): Ended {
  const { harness, startedBy } = agent
  const withOwner = !isLive(run) || run.state === 'stopping'
  const by = startedBy === null ? '' : ` by ${startedBy.name} (pid ${startedBy.pid})`
  return {
    ...taskBase(run, agent),
    state: withOwner ? 'superseded' : 'lost',
    keeper: null,
    harness: agent.process,
    endedAt: now,
    exit: null,
    reason: withOwner
      ? `it was started inside session ${run.session} and ended with it: ${isLive(run) ? 'its owner ended' : run.reason}`
      : `it was started inside session ${run.session} and ended there: only the process that started it knows how`,
    evidence: [`${harness} (pid ${agent.process.pid}) was started${by} as a member of run ${run.id}`, 'seen gone'],
    by: isLive(run) ? 'holdfast' : run.by,
    usage: { cpuMs: 0, whole: false, tokens },
  }
}
