import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { anthropic } from './anthropic.ts'
import { chat } from './chat.ts'
import { gemini } from './gemini.ts'
import { responses } from './responses.ts'
import { type Answer, answerTo } from './script.ts'
import { type Api, type Body, sendJson } from './talk.ts'

/** What a harness asked, and what it was answered. */
export type Request = {
  readonly api: string
  /** When it came, in milliseconds of the monotonic clock. */
  readonly at: number
  readonly prompt: string
  readonly results: number
  /** What the last tool result said. */
  readonly told: string
  /** All that it was, whoever put it there. */
  readonly text: string
  readonly nativeId: string | null
  readonly answer: Answer['kind']
}

/** A model on loopback whose answers are written in the prompts; it has no state but its gates. */
export type Model = {
  readonly port: number
  readonly requests: readonly Request[]
  /** Lets a step behind `[[gate: name]]` go on, and all later ones. */
  open(gate: string): void
  close(): Promise<void>
}

const APIS: readonly Api[] = [anthropic, responses, chat, gemini]

export async function fakeModel(): Promise<Model> {
  const requests: Request[] = []
  const opened = new Set<string>()
  const waiting = new Map<string, (() => void)[]>()
  const passed = (gate: string): Promise<void> =>
    opened.has(gate) ? Promise.resolve() : new Promise((go) => waiting.set(gate, [...(waiting.get(gate) ?? []), go]))

  async function serve(incoming: IncomingMessage, out: ServerResponse): Promise<void> {
    const path = new URL(incoming.url ?? '/', 'http://model').pathname
    const body = await bodyOf(incoming)
    const api = APIS.find(({ takes }) => incoming.method === 'POST' && takes(path))
    if (api === undefined) return other(path, out)
    const { prompt, results, told, tools } = api.read(body)
    const { answer, gate } = answerTo(prompt, results, tools)
    const text = JSON.stringify(body)
    requests.push({ api: api.name, at: performance.now(), prompt, results, told, text, nativeId: api.id(incoming.headers), answer: answer.kind })
    if (gate !== null) await passed(gate)
    api.write(out, { body, path, results }, answer)
  }

  const server = createServer((incoming, out) => {
    serve(incoming, out).catch((error: unknown) => {
      console.error('the model could not answer', error)
      if (!out.headersSent) sendJson(out, 500, { error: { message: String(error) } })
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    open: (gate) => {
      opened.add(gate)
      for (const go of waiting.get(gate) ?? []) go()
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as Body
  } catch {
    return {}
  }
}

/** Lists of models, token counts and signs of life; everything else is not there. */
function other(path: string, out: ServerResponse): void {
  const model = { id: 'fake-model', type: 'model', object: 'model', display_name: 'Fake', created_at: '2026-01-01T00:00:00Z', created: 1 }
  if (path.endsWith('/count_tokens')) sendJson(out, 200, { input_tokens: 100 })
  else if (/\/models(\/|$)/.test(path)) sendJson(out, 200, { object: 'list', data: [model], models: [], has_more: false })
  else if (path === '/') sendJson(out, 200, {})
  else sendJson(out, 404, { error: { message: `not faked: ${path}`, type: 'not_found_error' } })
}
