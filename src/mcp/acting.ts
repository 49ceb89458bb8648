import * as z from 'zod'
import { agentAround, inAgentsEnvironment, lockByHand, mySession, readInbox, say, sendMessage, startTask, unlockByHand } from '../app/index.ts'
import { type Inbox, Problem } from '../model/index.ts'
import { lockedJson, messageJson, startedTaskJson, unlockedJson } from '../show/index.ts'
import { addressee, command, directory, EVERYBODY, messageText, reason, sayingText, taskName, waitSeconds } from './schemas.ts'
import { type Call, type Tool, tool } from './tool.ts'

const lock = tool(
  'lock',
  {
    description:
      'Asks for a directory. It is yours until you unlock it or your agent ends; refused, naming the holder, if somebody else works there.',
    input: z.strictObject({ dir: directory, reason: reason.optional() }),
    effect: 'own',
  },
  ({ use }, request) =>
    use(async (world) => {
      const agent = await agentAround(world)
      return lockedJson(await lockByHand(world, request, () => agent))
    }),
)

const unlock = tool(
  'unlock',
  {
    description: 'Gives back a directory that you asked for. What is somebody else’s, or a session’s own, is refused.',
    input: z.strictObject({ dir: directory }),
    effect: 'own',
  },
  ({ use }, { dir }) => use(async (world) => ({ unlocked: (await unlockByHand(world, dir, false, await agentAround(world))).map(unlockedJson) })),
)

const startOne = tool(
  'start_task',
  {
    description: 'Starts a command in the background, as a task of your session: in its directory, with your environment; it ends with the session.',
    input: z.strictObject({ command, name: taskName.optional() }),
    effect: 'any',
  },
  ({ use }, { command: argv, name }) =>
    use(async (world) => {
      const { run: mine } = await mySession(world, 'have tasks')
      const started = await startTask(await inAgentsEnvironment(world), { argv, name, onRetire: 'cancel', dir: mine.dir })
      if (started.kind !== 'running') throw new Problem('invariant-broken', `a task cannot be ${started.kind}`)
      return startedTaskJson(started.run, started.harness.pid)
    }),
)

const report = tool(
  'report',
  {
    description: 'Tells the others what you are about to do (plan) or what came of it (result). The newest of each kind stands.',
    input: z.strictObject({ kind: z.enum(['plan', 'result']), text: sayingText }),
    effect: 'own',
  },
  ({ use }, { kind, text }) =>
    use(async (world) => {
      const { session, saying } = await say(world, kind, text)
      return { session, kind, text: saying.text }
    }),
)

const message = tool(
  'message',
  {
    description: 'Sends a message to another live session, or to many. Each finds it in its inbox.',
    input: z.strictObject({ to: addressee, text: messageText }),
    effect: 'own',
  },
  ({ use }, { to, text }) =>
    use(async (world) => ({ ...(await sendMessage(world, { to: to === '@all' || to === '@here' ? EVERYBODY[to] : { session: to }, text })) })),
)

const inbox = tool(
  'inbox',
  {
    description:
      'Your messages, each given out once; with peek they stay. Who sent one is proven, not claimed. `left`: so many more wait, ask again.',
    input: z.strictObject({ peek: z.boolean().default(false), waitSeconds }),
    effect: 'own',
  },
  async (call, { peek, waitSeconds: seconds }) => {
    await untilMail(call, seconds * 1000)
    // What nobody waits for any more is not taken out.
    const { messages, left } = call.isOver() ? NOTHING : await call.use((world) => readInbox(world, { peek, waitMs: null }))
    return { messages: messages.map(messageJson), left }
  },
)

/** Only looked at, a moment at a time: whoever has gone away meanwhile has lost nothing. */
async function untilMail({ use, isOver }: Call, waitMs: number): Promise<void> {
  const until = performance.now() + waitMs
  for (let left = waitMs; left > 0 && !isOver(); left = until - performance.now()) {
    const step = Math.min(left, STEP_MS)
    if ((await use((world) => readInbox(world, { peek: true, waitMs: step }))).messages.length > 0) return
  }
}
const STEP_MS = 500
const NOTHING: Inbox = { messages: [], left: 0 }

export const ACTING: readonly Tool[] = [lock, unlock, startOne, report, message, inbox]
