import { type McpServer, type ReadResourceResult, ResourceTemplate } from '@modelcontextprotocol/server'
import { seeEvents } from '../app/index.ts'
import { policy } from '../model/index.ts'
import { eventJson } from '../show/index.ts'
import { readOr } from './answer.ts'
import type { Serving } from './server.ts'

export const EVENTS = 'holdfast://events'
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

/** The session that an address names, as it calls it; null: it is about all. */
export const sessionIn = (uri: string): string | null => (uri.startsWith(`${EVENTS}/`) ? decoded(uri.slice(EVENTS.length + 1)) : null)

export const isOfEvents = (uri: string): boolean => uri === EVENTS || uri.startsWith(`${EVENTS}/`)

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
