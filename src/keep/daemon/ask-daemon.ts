import type { IncomingMessage } from 'node:http'
import { basename } from 'node:path'
import type { DaemonAnswer, DaemonFiles, DaemonHealth, PartHealth } from '../../model/index.ts'
import { DAEMON_PROTOCOL, PROTOCOL_HEADER, policy } from '../../model/index.ts'
import { reach } from './socket-path.ts'

/** Asks the daemon how it does, over its socket. One that does not answer in time is silent, which is an answer too. */
export async function askDaemon(files: DaemonFiles, ms: number): Promise<DaemonAnswer> {
  // No other verb pays for it.
  const { request } = await import('node:http')
  let road: ReturnType<typeof reach> | null = null
  try {
    road = reach(files.folder, basename(files.socket))
    const socketPath = road.path
    return await new Promise<DaemonAnswer>((resolve) => {
      const headers = { host: 'localhost', [PROTOCOL_HEADER]: String(DAEMON_PROTOCOL) }
      const asking = request({ socketPath, path: '/healthz', headers, agent: false }, (response) => {
        void read(response).then((text) => finish(answerOf(response.statusCode ?? 0, text)))
      })
      const timer = setTimeout(() => finish({ kind: 'silent', why: `no answer within ${ms} ms` }), ms)
      const finish = (answer: DaemonAnswer): void => {
        clearTimeout(timer)
        resolve(answer)
        asking.destroy()
      }
      asking.once('error', (error: NodeJS.ErrnoException) => finish({ kind: 'silent', why: error.code ?? error.message }))
      asking.end()
    })
  } catch (error) {
    return { kind: 'silent', why: (error as NodeJS.ErrnoException).code ?? String(error) }
  } finally {
    road?.close()
  }
}

async function read(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > policy.daemonAnswerBytes) break
      chunks.push(chunk)
    }
  } catch {
    // Half an answer is none.
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** 426 is how one of another protocol says so; every other answer must be its health. */
export function answerOf(status: number, text: string): DaemonAnswer {
  const body = parsed(text)
  if (status === 426) return { kind: 'other', version: textIn(body, 'version'), protocol: numberIn(body, 'protocol') }
  const health = healthFrom(body)
  return health === null ? { kind: 'silent', why: `it answered ${status}, and nothing that makes sense` } : { kind: 'health', health }
}

type Loose = Readonly<Record<string, unknown>>

function healthFrom(body: Loose): DaemonHealth | null {
  if (typeof body['healthy'] !== 'boolean' || !Array.isArray(body['parts'])) return null
  return {
    at: timeIn(body, 'at') ?? 0,
    healthy: body['healthy'],
    why: textIn(body, 'why'),
    parts: (body['parts'] as Loose[]).map(partFrom),
  }
}

const partFrom = (part: Loose): PartHealth => ({
  name: textIn(part, 'name') ?? '',
  lastSuccess: timeIn(part, 'lastSuccess'),
  failures: numberIn(part, 'failures') ?? 0,
  lastError: textIn(part, 'lastError'),
  nextTry: timeIn(part, 'nextTry'),
  counts: (part['counts'] ?? {}) as PartHealth['counts'],
})

function parsed(text: string): Loose {
  try {
    return (JSON.parse(text) ?? {}) as Loose
  } catch {
    return {}
  }
}

const textIn = (from: Loose, name: string): string | null => (typeof from[name] === 'string' ? from[name] : null)
const numberIn = (from: Loose, name: string): number | null => (typeof from[name] === 'number' ? from[name] : null)
/** As a number, or as people read it. */
const timeIn = (from: Loose, name: string): number | null =>
  numberIn(from, name) ?? (Number.isNaN(Date.parse(textIn(from, name) ?? '')) ? null : Date.parse(textIn(from, name) ?? ''))
