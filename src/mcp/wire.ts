import type { Readable, Writable } from 'node:stream'
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  SUBSCRIPTION_ID_META_KEY,
  type Transport,
} from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Subscriptions } from './subscriptions.ts'

/** The connection over stdio, listened in on: which requests are not answered yet, and (in the new era) who subscribes to what. */
export type Wire = Transport & {
  /** Resolved once it is closed, by whichever side. */
  readonly closed: Promise<void>
  readonly isClosed: () => boolean
  readonly unanswered: () => number
}

const LISTEN = 'subscriptions/listen'
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
const CANCELLED = 'notifications/cancelled'

export function stdioWire(input: Readable, output: Writable, subscriptions: Subscriptions): Wire {
  const inner = new StdioServerTransport(input, output)
  const waiting = new Set<string | number>()
  // One after the other: a client that does not read is waited for once, and not by everybody.
  let sending: Promise<void> = Promise.resolve()
  let over = false
  let close = (): void => {}
  const closed = new Promise<void>((done) => {
    close = done
  })

  function heard(message: JSONRPCMessage): void {
    // A subscription is answered when it ends.
    if (isJSONRPCRequest(message) && message.method !== LISTEN) waiting.add(message.id)
    if (!isJSONRPCNotification(message) || message.method !== CANCELLED) return
    const id = message.params?.['requestId'] as string | number
    waiting.delete(id)
    subscriptions.remove(keyOf(id))
  }

  async function said(message: JSONRPCMessage): Promise<void> {
    if ((isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) && message.id !== undefined) waiting.delete(message.id)
    if (!isJSONRPCNotification(message) || message.method !== ACKNOWLEDGED) return
    const { notifications, _meta } = message.params as Acknowledged
    await subscriptions.add(keyOf(_meta[SUBSCRIPTION_ID_META_KEY]), notifications.resourceSubscriptions ?? [])
  }

  const wire: Wire = {
    closed,
    isClosed: () => over,
    unanswered: () => waiting.size,
    start() {
      inner.onmessage = (message) => {
        heard(message)
        wire.onmessage?.(message)
      }
      inner.onerror = (error) => wire.onerror?.(error)
      inner.onclose = () => {
        wire.onclose?.()
        over = true
        close()
      }
      return inner.start()
    },
    send(message) {
      const sent = sending.then(() => said(message)).then(() => inner.send(message))
      sending = sent.catch(() => {})
      return sent
    },
    close: () => inner.close(),
  }
  return wire
}

type Acknowledged = {
  readonly notifications: { readonly resourceSubscriptions?: readonly string[] }
  readonly _meta: { readonly [SUBSCRIPTION_ID_META_KEY]: string | number }
}
/** As it is: 1 and "1" are two. */
const keyOf = (id: string | number): string => `listen ${JSON.stringify(id)}`
