import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorld, worlds } from '../../src/app/index.ts'
import { serverFactory } from '../../src/mcp/server.ts'

/** The same factory that is served over stdio, over HTTP on loopback: as a daemon will. */
const home = mkdtempSync(join(tmpdir(), 'hf-mcp-'))
const told: string[] = []
const handler = createMcpHandler(
  serverFactory({
    version: '0.0.0',
    worlds: worlds(() => openWorld({ assets: 'dist', home })),
    tell: (text) => told.push(text),
    ending: new AbortController().signal,
    subscriptions: null,
  }),
)
let server: Server

beforeAll(async () => {
  server = await listen(handler)
})
afterAll(async () => {
  await handler.close()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
  rmSync(home, { recursive: true, force: true })
})

describe.each([
  ['2025-11-25', 'legacy' as const],
  ['2026-07-28', { pin: '2026-07-28' }],
])('over HTTP in the era of %s', (version, mode) => {
  test('tools are listed and called, resources read, refusals told', async () => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)))
    try {
      expect(client.getNegotiatedProtocolVersion()).toBe(version)
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('whoami')
      const who = await client.callTool({ name: 'whoami', arguments: {} })
      expect(who).toMatchObject({ structuredContent: { session: null } })
      expect(JSON.parse((who.content[0] as { text: string }).text)).toEqual(who.structuredContent)
      expect(await client.callTool({ name: 'status', arguments: { session: 'nobody' } })).toMatchObject({
        isError: true,
        structuredContent: { error: 'noSuchSession', id: 'session-unknown', code: 66 },
      })
      expect((await client.readResource({ uri: 'holdfast://events' })).contents).toMatchObject([{ text: '[]' }])
      await expect(client.readResource({ uri: 'holdfast://events/nobody' })).rejects.toThrow(/no such session: nobody/)
      expect(client.getServerCapabilities()?.resources).toEqual({ subscribe: false, listChanged: false })
      expect(told).toEqual([])
    } finally {
      await client.close()
    }
  })
})

/** Only what it takes to put one before the other. */
async function listen({ fetch }: McpHttpHandler): Promise<Server> {
  const serving = createServer((incoming, out) => {
    const { method = 'GET', headers, url = '/' } = incoming
    const body = method === 'POST' ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' as const } : {}
    const request = new Request(`http://127.0.0.1${url}`, { method, headers: headers as Record<string, string>, ...body })
    fetch(request).then(
      (response) => {
        out.writeHead(response.status, Object.fromEntries(response.headers))
        if (response.body === null) out.end()
        else Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]).pipe(out)
      },
      () => out.destroy(),
    )
  })
  await new Promise<void>((ready) => serving.listen(0, '127.0.0.1', ready))
  return serving
}
