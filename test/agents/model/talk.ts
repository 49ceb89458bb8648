import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Answer, Tool } from './script.ts'

/** A request as one of the APIs reads it: who asks for what, after how many tool results, and what the last of them said. */
export type Asked = { readonly prompt: string; readonly results: number; readonly told: string; readonly tools: readonly Tool[] }

/** One API of a model: reads requests and writes answers in its own words. */
export type Api = {
  readonly name: string
  readonly takes: (path: string) => boolean
  readonly read: (body: Body) => Asked
  readonly write: (out: ServerResponse, request: { readonly body: Body; readonly path: string; readonly results: number }, answer: Answer) => void
  /** The native id, where the harness sends it along. */
  readonly id: (headers: IncomingHttpHeaders) => string | null
}

/** Whatever a harness sends: looked at where it matters, and nowhere else. */
// biome-ignore lint/suspicious/noExplicitAny: four vendors' requests have no common type, and a wrong guess shows at once
export type Body = Readonly<Record<string, any>>

/** Each answer costs the same, so that budgets can be reckoned: 100 in, 20 of them from a cache, 7 out, and one for each tool result. */
export const COST = { input: 100, cached: 20, output: 7 }

let serial = 0
export const freshId = (prefix: string): string => `${prefix}${Date.now().toString(36)}${(serial++).toString(36).padStart(4, '0')}`

export const openStream = (out: ServerResponse): void => {
  out.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'request-id': freshId('req_') })
}
export const sendEvent = (out: ServerResponse, event: string | null, data: unknown): void => {
  out.write(`${event === null ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`)
}
export const sendJson = (out: ServerResponse, code: number, data: unknown): void => {
  out.writeHead(code, { 'content-type': 'application/json' })
  out.end(JSON.stringify(data))
}

const PING_MS = 2000
/** Keeps the stream open, as a model that thinks. */
export function hang(out: ServerResponse): void {
  const timer = setInterval(() => out.write(': ping\n\n'), PING_MS)
  out.on('close', () => clearInterval(timer))
}

/** `told`: what its tool results say, where somebody asks. */
export type Turn = { readonly text: string; readonly results: number; readonly told?: string }

/** The last prompt in a conversation with a script, and the tool results since. What a harness adds by itself (`<system-reminder>`) is no prompt. */
export function lastPrompt(turns: readonly Turn[]): Omit<Asked, 'tools'> {
  let prompt = ''
  let results = 0
  let told = ''
  for (const turn of turns) {
    if (
      /\[\[\s*(run|bg|mcp|say|hang|gate)/.test(turn.text) ||
      (turn.results === 0 && turn.text.trim() !== '' && !/^\s*(<|#|This is the )/.test(turn.text))
    ) {
      prompt = turn.text
      results = 0
    }
    results += turn.results
    if (turn.results > 0) told = turn.told ?? ''
  }
  return { prompt, results, told }
}

export const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content
  return Array.isArray(content) ? content.map((part: Body) => String(part['text'] ?? '')).join('\n') : ''
}
