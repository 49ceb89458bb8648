import { randomUUID } from 'node:crypto'
import { type AuthInfo, createMcpHandler } from '@modelcontextprotocol/server'
import { worlds as lend, onBehalfOf, openWorld, type Speaker, speakerOf, type Worlds } from '../app/index.ts'
import type { Connection } from '../model/index.ts'
import { Problem, policy } from '../model/index.ts'
import type { Tell } from './answer.ts'
import { serverFactory } from './server.ts'
import { type Subscriptions, watchEvents } from './subscriptions.ts'

export type MountOptions = {
  readonly assets: string
  readonly home: string
  readonly version: string
  readonly tell: Tell
  /** False: the home was removed, and opening it would make it again. */
  readonly isThere: () => boolean
}
type From = { readonly connection: Connection; readonly isOpen: () => boolean } | null

/** For who serves it over HTTP: both eras of the protocol, a server for each request, and each caller is who it is. */
export function mount({ assets, home, version, tell, isThere }: MountOptions): {
  answer(request: Request, from: From): Promise<Response>
  /** How many want to be told of what happens. */
  subscribed(): number
  close(): Promise<void>
} {
  const worlds = lend(() => {
    if (!isThere()) throw new Problem('home-gone', 'the home was removed or replaced')
    return openWorld({ assets, home })
  })
  const ending = new AbortController()
  const subscriptions = watchEvents(worlds, tell, (uri) => handler.notify.resourceUpdated(uri))
  const handler = createMcpHandler(
    ({ era, authInfo }) => {
      const own = callersWorlds(worlds, (authInfo?.extra?.['from'] ?? null) as From)
      // In the old era each request stands alone, and nobody could be told of what happens later.
      return serverFactory({ version, worlds: own, tell, ending: ending.signal, subscriptions: era === 'modern' ? subscriptions : null })({ era })
    },
    {
      maxSubscriptions: policy.mcpSubscriptions,
      maxRequestBodySize: policy.httpBodyBytes,
      onerror: (error) => tell(error.message.replaceAll(/\s+/g, ' ').slice(0, 200)),
    },
  )
  return {
    async answer(request, from) {
      const authInfo: AuthInfo = { token: '', clientId: '', scopes: [], extra: { from } }
      const wanted = await listensTo(request)
      return wanted === null
        ? handler.fetch(request, { authInfo })
        : listening(subscriptions, wanted, request.signal, () => handler.fetch(request, { authInfo }))
    },
    subscribed: () => subscriptions.size,
    async close() {
      ending.abort()
      await handler.close()
    },
  }
}

/** Who calls is looked for once in a request, when something depends on it. */
function callersWorlds(worlds: Worlds, from: From): Worlds {
  let speaker: Promise<Speaker> | null = null
  return {
    users: worlds.users,
    use: (body) =>
      worlds.use(async (world) => {
        speaker ??= from === null ? Promise.resolve(UNSEEN) : speakerOf(world, from.connection, from.isOpen)
        return body(onBehalfOf(world, await speaker))
      }),
  }
}
const UNSEEN: Speaker = { kind: 'unknown', why: 'over this connection nobody can tell who asks; on loopback the kernel does' }

/** The addresses that a request subscribes to; null: it does not. What makes no sense is for the handler to say. */
async function listensTo(request: Request): Promise<readonly string[] | null> {
  if (request.method !== 'POST') return null
  try {
    const { method, params } = (await request.clone().json()) as Listen
    if (method !== 'subscriptions/listen') return null
    const wanted = params?.notifications?.resourceSubscriptions
    return Array.isArray(wanted) ? wanted.filter((uri) => typeof uri === 'string') : null
  } catch {
    return null
  }
}
type Listen = { readonly method?: unknown; readonly params?: { readonly notifications?: { readonly resourceSubscriptions?: unknown } } }

/** Looked at from before the answer begins, so that nothing is missed, until its connection is gone. */
async function listening(
  subscriptions: Subscriptions,
  uris: readonly string[],
  gone: AbortSignal,
  answer: () => Promise<Response>,
): Promise<Response> {
  const key = randomUUID()
  await subscriptions.add(key, uris)
  const over = (): void => subscriptions.remove(key)
  if (gone.aborted) over()
  gone.addEventListener('abort', over, { once: true })
  try {
    const response = await answer()
    if (!(response.headers.get('content-type') ?? '').startsWith('text/event-stream')) over()
    return response
  } catch (error) {
    over()
    throw error
  }
}
