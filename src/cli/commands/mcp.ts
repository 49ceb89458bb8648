import { join } from 'node:path'
import type { World } from '../../app/index.ts'
import type { Command } from '../command.ts'
import { noWords, type Parsed } from '../options.ts'

declare const HOLDFAST_VERSION: string

/** The MCP server is a bundle of its own: no other verb pays for it. */
type Bundle = { serve(options: { readonly assets: string; readonly home: string; readonly version: string }): Promise<number> }

export const mcp: Command = {
  name: 'mcp',
  group: 'together',
  summary: 'serve all of this to an agent, as an MCP server over stdio',
  arguments: [],
  options: [],
  more: () => ({
    description: [
      'Gives an agent tools: whoami, siblings, status, locks, check_lock, lock, unlock, message, inbox, tasks, start_task and report.',
      'Events are resources with subscriptions: holdfast://events and holdfast://events/SESSION.',
      'The server ends with its client and is never taken for an agent.',
    ],
    examples: [
      ['mcp', 'An agent speaks MCP with this command over stdin and stdout.'],
      ['mcp --home ~/other', 'The server works in another home.'],
    ],
    exits: { done: 'the client is gone' },
  }),
  run: mcpVerb,
}

async function mcpVerb({ assets, home }: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'mcp')
  const { serve } = require(join(assets, 'mcp.cjs')) as Bundle
  const code = await serve({ assets, home, version: HOLDFAST_VERSION })
  // Without a client there is nothing to wait for.
  return process.exit(code)
}
