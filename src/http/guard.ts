import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { DAEMON_PROTOCOL, PROTOCOL_HEADER, policy } from '../model/index.ts'

/** Where a request came in. The socket lies in a private folder: whoever can reach it may ask. Loopback is everybody's on this machine. */
export type Door = { readonly kind: 'socket' } | { readonly kind: 'loopback'; readonly port: number; readonly token: string }

export type Refusal = {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

/** Why a request is not even looked at; null: it may pass. */
export function refusalOf(request: IncomingMessage, door: Door, version: string): Refusal | null {
  return (
    (door.kind === 'loopback' ? (strangeHost(request, door) ?? strangePage(request) ?? noToken(request, door)) : null) ??
    otherProtocol(request, version) ??
    tooLong(request)
  )
}

/** Whoever has its own name lead to this address (DNS rebinding) names itself here. */
function strangeHost({ headers, url }: IncomingMessage, { port }: Extract<Door, { kind: 'loopback' }>): Refusal | null {
  const names = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`)
  if (names.includes((headers.host ?? '').toLowerCase()) && url?.startsWith('/') === true) return null
  return { status: 403, body: { error: 'this is not the host that was asked for', hint: `ask 127.0.0.1:${port}` } }
}

/** A page of somebody else's, in the browser of whoever has the token. */
function strangePage({ headers }: IncomingMessage): Refusal | null {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (
    (origin === undefined || origin.toLowerCase() === `http://${host}`.toLowerCase()) &&
    (site === undefined || site === 'same-origin' || site === 'none')
  )
    return null
  return { status: 403, body: { error: 'pages of other origins may not ask' } }
}

function noToken({ headers }: IncomingMessage, { token }: Extract<Door, { kind: 'loopback' }>): Refusal | null {
  const given = /^Bearer ([\x21-\x7e]+)$/i.exec(headers.authorization ?? '')?.[1]
  if (given !== undefined && timingSafeEqual(digest(given), digest(token))) return null
  return {
    status: 401,
    body: {
      error: given === undefined ? 'a token is needed' : 'the token is another one',
      hint: 'Authorization: Bearer TOKEN, with what is in the file daemon/token of the Holdfast home',
    },
    headers: { 'www-authenticate': 'Bearer realm="holdfast"' },
  }
}

/** Of one length, whatever was given. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Who says nothing of a protocol (curl, Prometheus) asks for nothing that depends on it. */
function otherProtocol({ headers }: IncomingMessage, version: string): Refusal | null {
  const theirs = headers[PROTOCOL_HEADER]
  if (theirs === undefined || theirs === String(DAEMON_PROTOCOL)) return null
  return {
    status: 426,
    body: {
      error: `this daemon speaks protocol ${DAEMON_PROTOCOL}, and was asked in ${JSON.stringify(theirs).slice(0, 40)}`,
      hint: 'daemon and command are of different versions: start the daemon anew',
      // Twice: where it is looked for, and beside the words.
      daemon: { version, protocol: DAEMON_PROTOCOL },
      version,
      protocol: DAEMON_PROTOCOL,
    },
    headers: { upgrade: `holdfast/${DAEMON_PROTOCOL}` },
  }
}

const tooLong = ({ headers }: IncomingMessage): Refusal | null => (Number(headers['content-length'] ?? 0) > policy.httpBodyBytes ? TOO_LONG : null)

export const TOO_LONG: Refusal = { status: 413, body: { error: `a request has ${policy.httpBodyBytes} bytes at most` } }
