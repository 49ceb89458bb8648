import type { McpServer, StandardSchemaWithJSON, ToolAnnotations } from '@modelcontextprotocol/server'
import type { Worlds } from '../app/index.ts'
import { type Answer, answered } from './answer.ts'
import type { Serving } from './serving.ts'

/** What a tool does to the world, as clients ask before they let an agent use it. */
const EFFECTS = {
  none: { readOnlyHint: true, openWorldHint: false },
  /** It adds something, or takes away what is the caller's own. */
  own: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  /** It runs what it is told. */
  any: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
} as const satisfies Record<string, ToolAnnotations>

export type Call = {
  readonly use: Worlds['use']
  /** The client no longer wants the answer, or is gone. */
  readonly isOver: () => boolean
}

export type Tool = (server: McpServer, serving: Serving) => void

type About<Given> = { readonly description: string; readonly input: StandardSchemaWithJSON<unknown, Given>; readonly effect: keyof typeof EFFECTS }

/** One tool: what it is called and takes, and what it answers. */
export const tool =
  <Given>(name: string, { description, input, effect }: About<Given>, call: (call: Call, given: Given) => Promise<Answer>): Tool =>
  (server, { worlds, tell, ending }) => {
    server.registerTool(name, { description, inputSchema: input, annotations: EFFECTS[effect] }, (given: Given, { mcpReq: { signal } }) =>
      answered(tell, () => call({ use: worlds.use, isOver: () => signal.aborted || ending.aborted }, given)),
    )
  }
