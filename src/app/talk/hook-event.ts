import { nativeIn } from '../../decide/index.ts'
import { callingHarness, HOOK_WORDS } from '../../harness/index.ts'
import type { Run, Store } from '../../model/index.ts'
import { isLive } from '../../model/index.ts'
import { noteActivity } from '../activity/activity.ts'
import { promptMark } from '../pane/prompt-mark.ts'
import { tellNews } from './agent-news.ts'
import { type HookAnswer, hearCall, type Report } from './hook-call.ts'
import type { HookWorld } from './hook-world.ts'

/**
 * A hook of a harness calls. Only the agent that the run is about may speak for it: one that its tools started, or that a shared daemon
 * runs with this run's environment, has another conversation.
 */
export async function hear(world: HookWorld, report: Report): Promise<HookAnswer> {
  const { event } = report
  if (event === 'before-tool' || event === 'waiting') return hearCall(world, report)
  if (event === 'record' || event === 'turn-end') {
    if (event === 'record' || hearCall(world, report).changed) await recordActivity(world)
    return {}
  }
  const said = await hearSession(world, { ...report, harness: callingHarness(report.harness, world.env) })
  return said === null ? {} : { stdout: said }
}

/** The hook's file says what the agent is at: that goes on record. */
async function recordActivity(world: HookWorld): Promise<void> {
  const store = await world.store()
  const run = await store.runs.get(world.env['HOLDFAST_RUN'] ?? '')
  if (run !== null && isLive(run)) await noteActivity(world, store, run)
}

/** The start and end of a conversation, and prompts. Answers what the agent shall be told; null: nothing. */
async function hearSession(world: HookWorld, report: Report): Promise<string | null> {
  const native = nativeIn(report.payload)
  if (native === null) return null
  const store = await world.store()
  const run = await store.runs.get(world.env['HOLDFAST_RUN'] ?? '')
  if (run === null || !isAbout(world, run, native)) return null
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
  if (report.event !== 'session-start') return null
  const answer = await world.help().bind(run, { harness: report.harness, id: native })
  // A compaction is one, too, and so may be what goes on in the middle of a turn: only at its very start nobody has said anything yet.
  if (world.agentState.activity(run.id) === null) await noteActivity(world, store, run, 'idle')
  if (answer.kind !== 'taken') return null
  const { session } = answer.by
  return `Holdfast: this conversation is that of session ${session} (pid ${world.evidence.harness(answer.by.id)?.pid ?? '?'}), which is alive: both would write to the same transcript. Tool calls are denied here. Leave this agent, and go on there: holdfast attach ${session}, or take it over: holdfast resume ${session} --takeover`
}

/** `native`: the conversation that the prompt is given in; null: the run has no say about its session any more. */
async function hearPrompt(world: HookWorld, store: Store, run: Run, { harness, payload }: Report, native: string | null): Promise<string | null> {
  // One that the agent has started for itself gets its prompts from there.
  if (payload['agent_id'] !== undefined && payload['agent_id'] !== null) return null
  const { prompt } = payload
  const isNew = native !== null && world.agentState.natives(run.id).at(-1)?.id !== native
  // Only in a pane somebody may have sent it, and looks for it here.
  if (native !== null && run.tmux !== null)
    world.agentState.recordPrompted(run.id, `${world.clock.now()} ${world.own.pid} ${typeof prompt === 'string' ? promptMark(prompt) : '-'}\n`)
  if (isNew) await world.help().bind(run, { harness, id: native })
  if (native !== null) await noteActivity(world, store, run, 'busy')
  // A new conversation may have moved its session to another id.
  const news = await tellNews(world, store, (isNew ? await store.runs.get(run.id) : null) ?? run)
  if (news === null) return null
  const answer = HOOK_WORDS[harness]?.atPrompt(`Holdfast: ${news}`) ?? null
  if (answer === null) world.agentInbox.leave(run.id, { topic: 'news', text: news })
  return answer
}

const textOr = (value: unknown): string | null => (typeof value === 'string' ? value.slice(0, 200) : null)

/** Known conversations need no look at processes. */
const isAbout = ({ agentState, help }: HookWorld, run: Run, native: string): boolean =>
  agentState.natives(run.id).some(({ id }) => id === native) || help().isAbout(run)
