import { activityAfter, hookCallFrom, isForeign, isInner } from '../../decide/index.ts'
import { callingHarness, HOOK_WORDS } from '../../harness/index.ts'
import { plainLines } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** The parts of a harness's payload that Holdfast believes. `payload` is empty where none could be read. */
export type Report = { readonly harness: string; readonly event: string; readonly payload: Readonly<Record<string, unknown>> }

/** What a hook prints, and the status that tells hook.sh how to go on. */
export type HookAnswer = { readonly stdout?: string; readonly stderr?: string; readonly status?: number }

/** hook.sh lets this call pass: a shared daemon makes it for another session. */
const STRANGER = 3
/** hook.sh calls again in the background, to put the change on record. */
const TO_RECORD = 4

type CallWorld = Pick<World, 'env' | 'processes' | 'agentState' | 'agentInbox' | 'fences'>

/** The events that need no store: a tool call, the end of a turn, and a question. */
export function hearCall(world: CallWorld, { harness: named, event, payload }: Report): HookAnswer & { readonly changed: boolean } {
  const { agentState, agentInbox, fences, env } = world
  const run = env['HOLDFAST_RUN'] ?? ''
  const harness = callingHarness(named, env)
  const words = HOOK_WORDS[harness]
  const call = hookCallFrom(harness, payload)
  const of = { natives: agentState.natives(run), refused: agentState.refused(run) }
  if (event === 'before-tool' && fences.isRetired(run))
    return { status: isShared(world, harness) && isForeign(call, of) ? STRANGER : 0, changed: false }
  const next = activityAfter(event, call, of, { state: agentState.activity(run)?.state ?? null, asks: words?.asks ?? true })
  if (next !== null) agentState.recordActivity(run, next)
  const changed = next !== null
  if (event === 'waiting') return { changed, status: changed ? TO_RECORD : 0 }
  if (event !== 'before-tool' || isInner(call, of) || words?.beforeTool === null) return { changed }
  return { changed, ...tellNotices(agentInbox, run, words?.beforeTool) }
}

/** Each notice is told once: by the call that takes it away. */
function tellNotices(agentInbox: World['agentInbox'], run: string, form: ((text: string) => string) | undefined): HookAnswer {
  const text = agentInbox
    .take(run)
    .map((notice) => notice.text)
    .filter((one) => one !== '')
    .flatMap((one) => plainLines(one))
    .join('\n')
  if (text === '') return {}
  const said = `Holdfast: ${text}`
  return form === undefined ? { stderr: said } : { stdout: form(said) }
}

/** Is it proven that a daemon of the harness, which serves many sessions, makes this call? */
function isShared({ env, processes }: CallWorld, harness: string): boolean {
  const shared = HOOK_WORDS[harness]?.shared ?? null
  if (shared === null) return false
  if (shared.by === 'variable') return Boolean(env[shared.word])
  return processes.origins().some(({ pid }) => processes.arguments(pid)[1] === shared.word)
}
