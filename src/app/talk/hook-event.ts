import { agentsAmong, HOOKS } from '../../harness/index.ts'
import type { Candidate, Run, Store } from '../../model/index.ts'
import { isLive, isNativeId, sameProcess } from '../../model/index.ts'
import { noteActivity } from '../activity/activity.ts'
import { bind } from '../conversation/conversation.ts'
import { promptMark } from '../pane/send.ts'
import { candidateOf } from '../world/process-candidate.ts'
import type { World } from '../world/world.ts'
import { tellNews } from './agent-news.ts'

/** What a harness reports of itself: the parts of its payload that we believe. */
export type Report = { readonly harness: string; readonly event: string; readonly payload: Readonly<Record<string, unknown>> }

/**
 * A hook of a harness calls. Only the agent that the run is about may speak for it: one that its tools started, or that a shared daemon
 * runs with this run's environment, has another conversation. Answers what the agent shall be told; null: nothing.
 */
export async function hear(world: World, report: Report): Promise<string | null> {
  const store = await world.store('writer')
  const run = await store.runs.get(world.env['HOLDFAST_RUN'] ?? '')
  // Its script has looked who calls, and written down what that one is at.
  if (report.event === 'turn-end' || report.event === 'waiting') {
    if (run !== null && isLive(run)) await noteActivity(world, store, run)
    return null
  }
  const native = nativeIn(report.payload)
  if (run === null || native === null || !isAbout(world, run, native)) return null
  const isOwner = isLive(run) && world.env['HOLDFAST_EPOCH'] === String(run.epoch)
  if (report.event === 'prompt') return hearPrompt(world, store, run, report, isOwner ? native : null)
  if (!isOwner) return null
  if (report.event === 'session-end') {
    await store.events.recordTold(
      run,
      { harness: report.harness, id: native, event: 'session-end', reason: textOr(report.payload['reason']) },
      world.clock.now(),
    )
    return null
  }
  const answer = await bind(world, store, run, { harness: report.harness, id: native }, { how: 'hook' })
  // A compaction is one, too, and so may be what goes on in the middle of a turn: only at its very start nobody has said anything yet.
  if (world.agentState.activity(run.id) === null) await noteActivity(world, store, run, 'idle')
  if (answer.kind !== 'taken') return null
  const { session } = answer.by
  return `Holdfast: this conversation is that of session ${session} (pid ${world.evidence.harness(answer.by.id)?.pid ?? '?'}), which is alive: both would write to the same transcript. Tool calls are denied here. Leave this agent, and go on there: holdfast attach ${session}, or take it over: holdfast resume ${session} --takeover`
}

/** `native`: the conversation that the prompt is given in; null: the run has no say about its session any more. */
async function hearPrompt(world: World, store: Store, run: Run, { harness, payload }: Report, native: string | null): Promise<string | null> {
  // One that the agent has started for itself gets its prompts from there.
  if (payload['agent_id'] !== undefined && payload['agent_id'] !== null) return null
  const { prompt } = payload
  if (native !== null)
    world.agentState.recordPrompted(run.id, `${world.clock.now()} ${world.own.pid} ${typeof prompt === 'string' ? promptMark(prompt) : '-'}\n`)
  if (native !== null && world.agentState.natives(run.id).at(-1)?.id !== native)
    await bind(world, store, run, { harness, id: native }, { how: 'hook' })
  if (native !== null) await noteActivity(world, store, run, 'busy')
  const news = await tellNews(world, store, (await store.runs.get(run.id)) ?? run)
  if (news === null) return null
  const answer = HOOKS[harness]?.atPrompt(`Holdfast: ${news}`) ?? null
  if (answer === null) world.agentInbox.leave(run.id, { topic: 'news', text: news })
  return answer
}

const textOr = (value: unknown): string | null => (typeof value === 'string' ? value.slice(0, 200) : null)

function nativeIn(payload: Report['payload']): string | null {
  const value = payload['session_id'] ?? payload['sessionId'] ?? payload['sessionID']
  return typeof value === 'string' && isNativeId(value) ? value : null
}

/** Is the hook that of the agent which the run is about: the only one between the hook and the command that the run is? */
function isAbout(world: World, run: Run, native: string): boolean {
  const { processes, evidence, agentState } = world
  if (agentState.natives(run.id).some(({ id }) => id === native)) return true
  const command = evidence.harness(run.id)
  const origins = processes.origins()
  const last = command === null ? -1 : origins.findIndex((one) => sameProcess(one, command))
  if (last < 0) return false
  const candidates = origins.slice(0, last + 1).flatMap(({ pid, ticks }): Candidate[] => {
    const seen = processes.sample(pid)
    if (seen.kind !== 'seen' || seen.row.ticks !== ticks) return []
    return [candidateOf(processes, seen.row)]
  })
  return agentsAmong(candidates, [], world.ownHarnesses()).length <= 1
}
