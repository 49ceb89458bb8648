import { join } from 'node:path'
import { countSessions } from '../../app/index.ts'
import { type Mounted, type Site, site } from '../../http/index.ts'
import type { Daemon } from '../daemon.ts'

/** The MCP server is a bundle of its own: it is loaded when somebody first speaks to it. */
type McpBundle = {
  mount(options: {
    readonly assets: string
    readonly home: string
    readonly version: string
    readonly tell: (text: string) => void
    readonly isThere: () => boolean
  }): Mounted
}

/** What this daemon answers over HTTP. */
export function daemonSite({ assets, home, version, isThere, worlds, log, health }: Omit<Daemon, 'site' | 'listening' | 'wake'>): Site {
  return site({
    version,
    startedAt: Math.round(performance.timeOrigin),
    health,
    sessions: () => worlds.use(countSessions),
    // Opening a home makes it: whoever asks shall not bring one back that is gone.
    ready: () => worlds.use(async () => {}),
    mcp: () => (require(join(assets, 'mcp.cjs')) as McpBundle).mount({ assets, home, version, tell: (text) => log(`mcp: ${text}`), isThere }),
    log,
  })
}
