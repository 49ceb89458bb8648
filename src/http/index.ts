import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import type { DaemonHealth } from '../model/index.ts'

export type Site = { readonly health: () => DaemonHealth }

/** What the daemon answers over HTTP: on its socket, and on loopback. */
export function site({ health }: Site): RequestListener {
  const app = new Hono()
  app.get('/healthz', (context) => {
    const now = health()
    return context.json(now, now.healthy ? 200 : 503)
  })
  return getRequestListener(app.fetch)
}
