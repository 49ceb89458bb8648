import { type Called, type CallFailure, type CallFailureKind, policy } from '../model/index.ts'

export type CallRequest = {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}
export type CallAnswer = { readonly status: number; readonly headers: Headers; readonly text: string }

/**
 * A single HTTP call, bounded in time and size. It follows no redirect: another host must never see the token. It never throws: every fault of
 * the network is an answer.
 */
export async function call(
  { url, method, headers, body }: CallRequest,
  bounds = { ms: policy.sourceCallMs as number, bytes: policy.sourceCallBytes as number },
): Promise<Called<CallAnswer>> {
  const where = placeOf(url)
  try {
    const signal = AbortSignal.timeout(bounds.ms)
    const response = await fetch(url, { method, headers, signal, redirect: 'manual', ...(body === undefined ? {} : { body }) })
    const text = await readBounded(response, bounds.bytes)
    if (text === null) return failed('too-long', response.status, null, `${where} answered with more than ${bounds.bytes} bytes`)
    const kind = kindOf(response.status, response.headers, text)
    if (kind === null) return { ok: { status: response.status, headers: response.headers, text } }
    return failed(kind, response.status, pauseOf(response.headers), `${where} answered ${response.status}${saidIn(text)}`)
  } catch (error) {
    const fault = error as Error & { readonly cause?: { readonly code?: string } }
    if (fault.name === 'TimeoutError') return failed('timeout', null, null, `${where} did not answer within ${bounds.ms / 1000} s`)
    return failed('unreachable', null, null, `${where} cannot be reached (${fault.cause?.code ?? fault.message})`)
  }
}

const failed = (kind: CallFailureKind, status: number | null, retryAfterMs: number | null, why: string): { readonly failed: CallFailure } => ({
  failed: { kind, status, retryAfterMs, why },
})

/** Host and path, without a query: that may hold a secret. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/** Null: it is longer than that. A stream that never ends is cut by the time limit. */
async function readBounded(response: Response, bytes: number): Promise<string | null> {
  if (response.body === null) return ''
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += part.byteLength
    if (size > bytes) return null
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Null: an answer. A limit may come as 403, too: then the headers say so. */
function kindOf(status: number, headers: Headers, text: string): CallFailureKind | null {
  if ((status >= 200 && status < 300) || status === 304) return null
  if (status === 401) return 'unauthorized'
  if (status === 429) return 'limited'
  if (status === 403)
    return headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0' || /secondary rate limit/i.test(text) ? 'limited' : 'forbidden'
  if (status === 404) return 'missing'
  if (status === 409) return 'conflict'
  if (status === 410) return 'gone'
  return status >= 500 ? 'server' : 'refused'
}

/** `Retry-After` in seconds or as a date, or the moment at which a rate limit is reset. */
function pauseOf(headers: Headers): number | null {
  const after = headers.get('retry-after')
  if (after !== null && /^\d{1,9}$/.test(after.trim())) return Number(after) * 1000
  const date = after === null ? Number.NaN : Date.parse(after)
  if (!Number.isNaN(date)) return Math.max(0, date - Date.now())
  const reset = headers.get('x-ratelimit-reset')
  if (headers.get('x-ratelimit-remaining') === '0' && reset !== null && /^\d{1,12}$/.test(reset))
    return Math.max(0, Number(reset) * 1000 - Date.now())
  return null
}

/** The first words of what the other side said about it. */
function saidIn(text: string): string {
  const said = /"(?:message|error|detail)"\s*:\s*"((?:[^"\\]|\\.){1,160})/.exec(text)?.[1]
  return said === undefined ? '' : `: ${said}`
}
