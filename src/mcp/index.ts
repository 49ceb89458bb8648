import { isatty } from 'node:tty'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { ZodError } from 'zod'
import { worlds as lend, openWorld, sweepAnchors } from '../app/index.ts'
import { exitCode, policy } from '../model/index.ts'
import { clientGone } from './client.ts'
import { boundedLines } from './lines.ts'
import { serverFactory } from './server.ts'
import { teller, USAGE } from './stderr.ts'
import { watchEvents } from './subscriptions.ts'
import { stdioWire } from './wire.ts'

/** Over HTTP, for the daemon. */
export { mount } from './mount.ts'

export type ServeOptions = { readonly assets: string; readonly home: string; readonly version: string }

/** Serves one client over stdin and stdout for as long as both are there. It never outlives its client, and nothing that a client does breaks it. */
export async function serve({ assets, home, version }: ServeOptions): Promise<number> {
  const open = () => openWorld({ assets, home })
  // Before anything else: who started us may be gone soon.
  const gone = clientGone(open())
  const tell = teller()
  if (isatty(0)) tell(USAGE)
  for (const fault of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(fault, (error: unknown) => tell(`a bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`))

  const ending = new AbortController()
  const worlds = lend(open)
  let publish = (_uri: string): void => {}
  const subscriptions = watchEvents(worlds, tell, (uri) => publish(uri))
  const input = boundedLines(policy.mcpLineBytes, tell, () => parting(), policy.mcpHeldBytes)
  const wire = stdioWire(input, process.stdout, subscriptions)
  const isHeard = (): boolean => wire.unanswered() === 0 && input.writableLength === 0 && input.readableLength === 0
  const isDone = (): boolean => worlds.users() === 0 && (wire.isClosed() || (isHeard() && process.stdout.writableLength === 0))

  /** What waits is let go at once; what is under way gets a moment, once, to come to its end and be answered. */
  let parted: Promise<void> | null = null
  const parting = (): Promise<void> => (parted ??= part())
  async function part(): Promise<void> {
    ending.abort()
    const until = performance.now() + policy.mcpPartingMs
    // A turn first: what was just read is still to be heard.
    do await pause(policy.pollMaxMs / 5)
    while (!isDone() && performance.now() < until)
  }

  const factory = serverFactory({ version, worlds, tell, ending: ending.signal, subscriptions })
  serveStdio(
    (context) => {
      const mcp = factory(context)
      publish = (uri) => void mcp.server.sendResourceUpdated({ uri }).catch(() => {})
      return mcp
    },
    { transport: wire, maxSubscriptions: policy.mcpSubscriptions, onerror: (error) => tell(oneLine(error)) },
  )
  void sweep(worlds, tell)
  process.stdin.on('error', () => input.end())
  process.stdin.pipe(input)
  // Its end may lie behind more than is ever heard.
  const ended = new Promise<void>((done) => process.stdin.once('end', () => done()))
  await Promise.race([wire.closed, gone, signalled(), ended])
  await parting()
  return exitCode.done
}

/** Beside the serving, and never in its way: files that dead agents left are removed, and a fault is only told. */
async function sweep(worlds: ReturnType<typeof lend>, tell: ReturnType<typeof teller>): Promise<void> {
  await pause(SWEEP_AFTER_MS)
  try {
    await worlds.use(async (world) => sweepAnchors(world))
  } catch (error) {
    tell(oneLine(error instanceof Error ? error : new Error(String(error))))
  }
}
/** The first answers of a client come before it. */
const SWEEP_AFTER_MS = 200

/** What the SDK has to say of what came in may be long. */
const oneLine = (error: Error): string =>
  error instanceof ZodError
    ? 'a line from the client is no message of MCP, and was left out'
    : (error.message.split('\n', 1)[0] ?? '').slice(0, MAX_LINE)
const MAX_LINE = 200

const pause = (ms: number): Promise<void> => new Promise((next) => setTimeout(next, ms))

const signalled = (): Promise<void> =>
  new Promise((told) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => told())
  })
