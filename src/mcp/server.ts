import { type McpRequestContext, McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { policy } from '../model/index.ts'
import { ACTING } from './acting.ts'
import { isOfEvents } from './event-uri.ts'
import { offerEvents } from './events.ts'
import { SEEING } from './seeing.ts'
import type { Serving } from './serving.ts'
import type { Subscriptions } from './subscriptions.ts'
import { WORKING } from './working.ts'

const INSTRUCTIONS =
  'Holdfast knows which coding agents are at work on this machine. Ask whoami for your own session and siblings for the others; check_lock before you write outside your directory, and lock it; report your plan and result; message others and read your inbox. If you work on a request, work_show tells it, and work_finish reports its result.'

/** The same tools and resources in both eras of the protocol: one server for each connection, or for each request where there is none. */
export const serverFactory =
  (serving: Serving) =>
  ({ era }: Pick<McpRequestContext, 'era'>): McpServer => {
    const { subscriptions, version } = serving
    // In the old era a server hears of subscriptions itself; in the new one whoever serves it does.
    const subscribe = subscriptions !== null
    const server = new McpServer(
      { name: 'holdfast', title: 'Holdfast', version },
      { capabilities: { tools: { listChanged: false }, resources: { subscribe, listChanged: false } }, instructions: INSTRUCTIONS },
    )
    for (const tool of [...SEEING, ...ACTING, ...WORKING]) tool(server, serving)
    offerEvents(server, serving)
    if (subscriptions !== null && era === 'legacy') hearSubscriptions(server, subscriptions)
    return server
  }

function hearSubscriptions({ server }: McpServer, subscriptions: Subscriptions): void {
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    if (!isOfEvents(uri)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is nothing to subscribe to at ${uri}`)
    if (subscriptions.size >= policy.mcpSubscriptions)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there are ${subscriptions.size} subscriptions already; unsubscribe from one first`)
    await subscriptions.add(uri, [uri])
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', async ({ params: { uri } }) => {
    subscriptions.remove(uri)
    return {}
  })
}
