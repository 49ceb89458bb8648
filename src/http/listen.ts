import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { policy } from '../model/index.ts'

/** Never another address: what is on loopback cannot be reached from outside. */
const LOOPBACK = '127.0.0.1'

export type Listening = {
  readonly port: number
  readonly isListening: () => boolean
  connections(): Promise<number>
  /** Nobody new is let in, and who is there is let go. */
  close(): Promise<void>
}

/** Listens on loopback. Port 0: any that is free. `answer` is told where it is. */
export async function listen(port: number, answer: (port: number) => RequestListener): Promise<Listening> {
  const server = boundedServer()
  await new Promise<void>((ready, failed) => {
    server.once('error', failed)
    server.listen({ host: LOOPBACK, port, exclusive: true }, () => {
      server.off('error', failed)
      ready()
    })
  })
  const { port: taken } = server.address() as AddressInfo
  server.on('request', answer(taken))
  // What goes wrong from now on is seen by whoever looks whether it still listens.
  server.on('error', () => server.close())
  return {
    port: taken,
    isListening: () => server.listening,
    connections: () => new Promise((told) => server.getConnections((_error, count) => told(count ?? 0))),
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

/** A server whose clients may be slow, many and silent, up to a bound: those that say nothing make room for those who ask. */
export function boundedServer(answer?: RequestListener): Server {
  const server = createServer({
    headersTimeout: policy.httpHeadMs,
    requestTimeout: policy.httpRequestMs,
    connectionsCheckingInterval: policy.httpCheckMs,
    maxHeaderSize: 16 * 1024,
    keepAliveTimeout: policy.httpHeadMs,
  })
  const room = makeRoom(policy.httpConnections)
  server.on('connection', room.enter)
  server.on('request', room.ask)
  // Also one that does not read what it is sent.
  server.timeout = policy.httpIdleMs
  if (answer !== undefined) server.on('request', answer)
  return server
}

type Room = { enter(socket: Socket): void; ask(request: IncomingMessage, response: ServerResponse): void }

/** Node would turn the newcomer away, who may be the only one with a question. */
function makeRoom(most: number): Room {
  const all = new Set<Socket>()
  /** Those on which no request is under way, in the order in which they became so. */
  const silent = new Set<Socket>()
  return {
    enter(socket) {
      all.add(socket)
      silent.add(socket)
      socket.once('close', () => {
        all.delete(socket)
        silent.delete(socket)
      })
      if (all.size <= most) return
      const [oldest = socket] = silent
      all.delete(oldest)
      silent.delete(oldest)
      oldest.destroy()
    },
    ask({ socket }, response) {
      silent.delete(socket)
      response.once('close', () => void (all.has(socket) && silent.add(socket)))
    },
  }
}
