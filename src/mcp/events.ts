import { type McpServer, type ReadResourceResult, ResourceTemplate } from '@modelcontextprotocol/server'
import { seeEvents } from '../app/index.ts'
import { policy } from '../model/index.ts'
import { eventJson } from '../show/index.ts'
import { readOr } from './answer.ts'
import { EVENTS, sessionIn } from './event-uri.ts'
import type { Serving } from './serving.ts'

const JSON_TYPE = 'application/json'

/** What happened, as resources: on the whole, and to one session. */
export function offerEvents(server: McpServer, { worlds, tell }: Serving): void {
  const read = (uri: string, reference: string | null): Promise<ReadResourceResult> =>
    readOr(uri, tell, async () => {
      const events = await worlds.use((world) => seeEvents(world, reference, 0, policy.mcpEvents))
      return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(events.map(eventJson)) }] }
    })
  const about = { mimeType: JSON_TYPE, description: `What happened, the newest ${policy.mcpEvents} events; can be subscribed to.` }
  server.registerResource('events', EVENTS, { ...about, title: 'Events of all sessions' }, ({ href }) => read(href, null))
  const ofOne = new ResourceTemplate(`${EVENTS}/{session}`, { list: undefined })
  server.registerResource('events-of-session', ofOne, { ...about, title: 'Events of one session' }, ({ href }) => read(href, sessionIn(href)))
}
