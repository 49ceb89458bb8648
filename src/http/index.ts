import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { type Door, type Refusal, refusalOf } from './guard.ts'
import { type Counter, countRequests } from './requests.ts'
import { type RouteOptions, routes } from './routes.ts'

export { boundedServer, type Listening, listen } from './listen.ts'
export type { Mounted } from './mcp.ts'

export type SiteOptions = Omit<RouteOptions, 'requests'>

/** What the daemon answers over HTTP: the same at both of its doors. */
export type Site = {
  /** For what listens in a private folder: whoever gets there needs no token. */
  readonly onSocket: RequestListener
  readonly onLoopback: (port: number, token: string) => RequestListener
  close(): Promise<void>
}

export function site(options: SiteOptions): Site {
  const requests = countRequests()
  const { app, close } = routes({ ...options, requests })
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false, hostname: 'localhost' })
  const at = (door: Door): RequestListener => guarded(door, options.version, requests, answer)
  return { onSocket: at({ kind: 'socket' }), onLoopback: (port, token) => at({ kind: 'loopback', port, token }), close }
}

/** Before anything is made of a request, it is looked at as it came in. */
function guarded(
  door: Door,
  version: string,
  requests: Counter,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): RequestListener {
  return (request, response) => {
    response.once('close', () => requests.add(request.url ?? '', response.statusCode))
    for (const [name, value] of Object.entries(ALWAYS)) response.setHeader(name, value)
    const refusal = refusalOf(request, door, version)
    // What goes wrong with an answer is told by who makes it; what is left is a connection that broke.
    if (refusal === null) answer(request, response).catch(() => response.destroy())
    else refuse(response, refusal)
  }
}

/** Nobody keeps, frames, guesses at or reads across origins what is said here. */
const ALWAYS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** What else it had to say is not read. */
function refuse(response: ServerResponse, { status, body, headers }: Refusal): void {
  response.writeHead(status, { ...headers, 'content-type': 'application/json', connection: 'close' })
  response.end(`${JSON.stringify(body)}\n`)
}
