import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Connection } from '../model/index.ts'
import { policy } from '../model/index.ts'
import { TOO_LONG } from './guard.ts'

/** The MCP server, as its own bundle gives it to whoever serves it over HTTP. */
export type Mounted = {
  /** `from`: over which connection it was asked; null: over one of which nobody can tell who has its other end. */
  answer(request: Request, from: { readonly connection: Connection; readonly isOpen: () => boolean } | null): Promise<Response>
  close(): Promise<void>
}

export function mcpRoute(load: () => Mounted): {
  answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<Response>
  close(): Promise<void>
} {
  let mounted: Mounted | null = null
  return {
    async answer(incoming, outgoing) {
      const body = incoming.method === 'POST' ? await readBody(incoming, policy.httpBodyBytes) : ''
      if (body === null)
        return new Response(JSON.stringify(TOO_LONG.body), {
          status: TOO_LONG.status,
          headers: { 'content-type': 'application/json', connection: 'close' },
        })
      mounted ??= load()
      return plain(await mounted.answer(requestOf(incoming, outgoing, body), connectionOf(incoming)))
    },
    close: async () => mounted?.close(),
  }
}

/** The connection, and who may keep an answer, are the server's to say and not the protocol's. */
function plain(answer: Response): Response {
  for (const name of ['cache-control', 'connection', 'keep-alive']) answer.headers.delete(name)
  return answer
}

/** Null: it is longer. */
async function readBody(incoming: IncomingMessage, most: number): Promise<string | null> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of incoming as AsyncIterable<Buffer>) {
    size += part.length
    if (size > most) return null
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** As it came in, without what was meant for us alone. */
function requestOf({ headers, method = 'GET', url = '/' }: IncomingMessage, outgoing: ServerResponse, body: string): Request {
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const passed = new Headers()
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string' && !OURS.has(name)) passed.set(name, value)
  return new Request(`http://localhost${url}`, { method, headers: passed, signal: gone.signal, ...(method === 'POST' ? { body } : {}) })
}
const OURS = new Set(['authorization', 'connection', 'content-length', 'cookie', 'host', 'keep-alive', 'transfer-encoding', 'upgrade'])

function connectionOf({ socket }: IncomingMessage): Parameters<Mounted['answer']>[1] {
  const { localAddress, localPort, remoteAddress, remotePort } = socket
  if (localAddress === undefined || localPort === undefined || remoteAddress === undefined || remotePort === undefined) return null
  return {
    connection: { local: { address: localAddress, port: localPort }, remote: { address: remoteAddress, port: remotePort } },
    isOpen: () => !socket.destroyed,
  }
}
