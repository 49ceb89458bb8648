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
import { policy } from '../model/index.ts'
import type { Subscriptions } from './subscriptions.ts'

/**
 * The connection over stdio, listened in on: which requests are not answered yet, and (in the new era) who subscribes to what. A client that
 * asks for more than it reads is not heard until it has read.
 */
export type Wire = Transport & {
  /** Resolved once it is closed, by whichever side. */
  readonly closed: Promise<void>
  readonly isClosed: () => boolean
  /** How many requests are under way, or have an answer that waits for others to be sent. */
  readonly unanswered: () => number
}

const LISTEN = 'subscriptions/listen'
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
const CANCELLED = 'notifications/cancelled'

export function stdioWire(input: Readable, output: Writable, subscriptions: Subscriptions): Wire {
  const inner = new StdioServerTransport(input, output)
  const waiting = requestsWaiting()
  // One after the other: a client that does not read is waited for once, and not by everybody.
  let sending: Promise<void> = Promise.resolve()
  let unsent = 0
  let over = false
  let close = (): void => {}
  const closed = new Promise<void>((done) => {
    close = done
  })

  function heard(message: JSONRPCMessage): void {
    // A subscription is answered when it ends.
    if (isJSONRPCRequest(message) && message.method !== LISTEN) waiting.add(message.id)
    if (isTooMuch()) input.pause()
    if (!isJSONRPCNotification(message) || message.method !== CANCELLED) return
    const id = message.params?.['requestId'] as string | number
    waiting.drop(id)
    subscriptions.remove(keyOf(id))
  }

  const isTooMuch = (): boolean => waiting.size() >= policy.mcpRequests || unsent >= policy.mcpRequests

  /** With a turn for everything else before: what was asked must not keep us from seeing that the client is gone. */
  function hearOn(): void {
    if (!input.isPaused() || isTooMuch()) return
    setImmediate(() => {
      if (!over && !isTooMuch()) input.resume()
    })
  }

  async function said(message: JSONRPCMessage): Promise<void> {
    if ((isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) && message.id !== undefined) waiting.settle(message.id)
    if (!isJSONRPCNotification(message) || message.method !== ACKNOWLEDGED) return
    const { notifications, _meta } = message.params as Acknowledged
    await subscriptions.add(keyOf(_meta[SUBSCRIPTION_ID_META_KEY]), notifications.resourceSubscriptions ?? [])
  }

  const wire: Wire = {
    closed,
    isClosed: () => over,
    unanswered: () => waiting.size(),
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
      unsent++
      sending = sent
        .catch(() => {})
        .then(() => {
          unsent--
          hearOn()
        })
      return sent
    },
    close: () => inner.close(),
  }
  return wire
}

/** Requests by their ids, each as often as it was asked: nothing keeps a client from using one twice. */
function requestsWaiting() {
  const counts = new Map<string | number, number>()
  let size = 0
  const less = (id: string | number, by: number): void => {
    const left = (counts.get(id) ?? 0) - by
    if (left < 0) return
    size -= by
    if (left === 0) counts.delete(id)
    else counts.set(id, left)
  }
  return {
    add(id: string | number): void {
      counts.set(id, (counts.get(id) ?? 0) + 1)
      size++
    },
    settle: (id: string | number) => less(id, 1),
    /** It was called off: nobody answers it. */
    drop: (id: string | number) => less(id, counts.get(id) ?? 0),
    size: () => size,
  }
}

type Acknowledged = {
  readonly notifications: { readonly resourceSubscriptions?: readonly string[] }
  readonly _meta: { readonly [SUBSCRIPTION_ID_META_KEY]: string | number }
}
/** As it is: 1 and "1" are two. */
const keyOf = (id: string | number): string => `listen ${JSON.stringify(id)}`
