import { join } from 'node:path'
import type { World } from '../app/index.ts'
import { noWords, type Parsed } from './options.ts'

declare const HOLDFAST_VERSION: string

/** The MCP server is a bundle of its own: no other verb pays for it. */
type Bundle = { serve(options: { readonly assets: string; readonly home: string; readonly version: string }): Promise<number> }

export async function mcpVerb({ assets, home }: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'mcp')
  const { serve } = require(join(assets, 'mcp.cjs')) as Bundle
  const code = await serve({ assets, home, version: HOLDFAST_VERSION })
  // Without a client there is nothing to wait for, whatever is still under way.
  return process.exit(code)
}
