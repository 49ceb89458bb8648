import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Source } from '../../src/model/index.ts'
import { httpSource, STANDARD } from '../../src/source/index.ts'

type Vector = {
  readonly name: string
  readonly call: Exclude<keyof Source, 'name' | 'kind'>
  readonly args: readonly unknown[]
  readonly request: { readonly method: string; readonly path: string; readonly key?: string; readonly body?: object }
  readonly response: { readonly status: number; readonly body: object | null }
  readonly answer: object
}
const read = (name: string): unknown => JSON.parse(readFileSync(`docs/reference/${name}`, 'utf8'))
const vectors = read('http-source.vectors.json') as readonly Vector[]

describe('golden vectors', () => {
  test.each(vectors.map((vector) => [vector.name, vector] as const))('%s', async (_name, { call, args, request, response, answer }) => {
    const seen: object[] = []
    const server = createServer((incoming, outgoing) => {
      let text = ''
      incoming.on('data', (part) => {
        text += String(part)
      })
      incoming.on('end', () => {
        const key = incoming.headers['idempotency-key']
        const { authorization } = incoming.headers
        const body = text === '' ? undefined : (JSON.parse(text) as unknown)
        seen.push({
          method: incoming.method,
          path: incoming.url,
          authorization,
          ...(key === undefined ? {} : { key }),
          ...(body === undefined ? {} : { body }),
        })
        outgoing.writeHead(response.status, { connection: 'close' }).end(response.body === null ? undefined : JSON.stringify(response.body))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const source = httpSource({ name: 's', url, token: async () => 'secret', host: 'here', worker: 'w1' }, STANDARD)
    const ask = source[call] as (...words: readonly unknown[]) => Promise<object>
    expect(await ask(...args)).toMatchObject(answer)
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatchObject({ ...request, authorization: 'Bearer secret' })
    await new Promise((resolve) => server.close(resolve))
  })

  test('every call has a vector', () => {
    expect(new Set(vectors.map(({ call }) => call))).toEqual(new Set(['list', 'look', 'claim', 'heartbeat', 'feedback', 'report', 'receipt']))
  })
})

test('the OpenAPI file names the very routes that are called', () => {
  const { paths } = read('http-source.openapi.json') as { readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>> }
  const described = Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
  const called = Object.values(STANDARD.routes).flatMap((route) => (route === null ? [] : [`${route.method} /${route.path.split('?')[0]}`]))
  expect(described.toSorted()).toEqual(called.toSorted())
})
