import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import type { SessionCount } from '../app/index.ts'
import { DAEMON_PROTOCOL, type DaemonHealth, Problem, policy } from '../model/index.ts'
import { daemonMetrics, healthJson, iso, METRICS_TYPE, metricsText } from '../show/index.ts'
import { type Mounted, mcpRoute } from './mcp.ts'
import type { Counter } from './requests.ts'

export type RouteOptions = {
  readonly version: string
  readonly startedAt: number
  readonly health: () => DaemonHealth
  /** The live sessions, as the store has them. */
  readonly sessions: () => Promise<readonly SessionCount[]>
  /** Throws a Problem as long as nothing can be done for anybody. */
  readonly ready: () => Promise<void>
  /** Called when somebody first asks for it. */
  readonly mcp: () => Mounted
  readonly log: (line: string) => void
  readonly requests: Counter
}

type Bindings = { Bindings: HttpBindings }

export function routes(options: RouteOptions): { readonly app: Hono<Bindings>; close(): Promise<void> } {
  const { version, startedAt, health, log } = options
  const app = new Hono<Bindings>()
  const counted = cached(options.sessions, policy.metricsMs)
  const mcp = mcpRoute(options.mcp)

  app.get('/healthz', (context) => {
    const now = health()
    return context.json(healthJson(now), now.healthy ? 200 : 503)
  })
  app.get('/version', (context) => context.json({ version, protocol: DAEMON_PROTOCOL, pid: process.pid, startedAt: iso(startedAt) }))
  app.get('/metrics', async (context) => {
    const { user, system } = process.cpuUsage()
    const families = daemonMetrics({
      version,
      protocol: DAEMON_PROTOCOL,
      startedAt,
      now: Date.now(),
      health: health(),
      cpuSeconds: (user + system) / 1e6,
      residentBytes: process.memoryUsage.rss(),
      sessions: await counted(),
      requests: options.requests.all(),
    })
    return context.body(metricsText(families), 200, { 'content-type': METRICS_TYPE })
  })
  app.on(['POST', 'GET', 'DELETE'], '/mcp', async (context) => {
    await options.ready()
    const answer = await mcp.answer(context.env.incoming, context.env.outgoing)
    // What the protocol of today takes no more is said without what it takes.
    if (answer.status === 405 && !answer.headers.has('allow')) answer.headers.set('allow', 'POST')
    return answer
  })

  for (const path of ['/healthz', '/version', '/metrics'])
    app.all(path, (context) => context.json({ error: `${path} can only be read` }, 405, { allow: 'GET, HEAD' }))
  app.all('/mcp', (context) => context.json({ error: '/mcp takes POST, GET and DELETE' }, 405, { allow: 'POST, GET, DELETE' }))
  app.notFound((context) => context.json({ error: 'there is nothing here', hint: 'there are /healthz, /version, /metrics and /mcp' }, 404))
  app.onError((error, context) => {
    if (error instanceof Problem) return context.json({ error: error.message, id: error.id, hint: error.hint }, 503)
    // Who asked has left in the middle of it, and nobody reads this.
    if ((error as NodeJS.ErrnoException).code === 'ECONNRESET') return context.body(null, 400)
    log(`http: a bug: ${error.stack ?? error.message}`)
    return context.json({ error: 'a bug in Holdfast; its log says more' }, 500)
  })
  return { app, close: mcp.close }
}

/** Once for all who ask within so long. Null: it could not be told. */
function cached<T>(ask: () => Promise<T>, ms: number): () => Promise<T | null> {
  let known: { readonly until: number; readonly answer: Promise<T | null> } | null = null
  return () => {
    if (known === null || performance.now() >= known.until) known = { until: performance.now() + ms, answer: ask().catch(() => null) }
    return known.answer
  }
}
