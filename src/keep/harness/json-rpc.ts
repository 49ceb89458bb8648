import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import type { RemoteCall } from '../../model/index.ts'

/** Calls that a daemon answers on its socket: JSON-RPC over WebSocket, as the app server of Codex speaks it (0.166). Each waits for its answer. */
export async function callRemote(path: string, calls: readonly RemoteCall[], ms: number): Promise<void> {
  const socket = connect(path)
  const talk = async (): Promise<void> => {
    const messages = received(socket)
    socket.write(handshake())
    await messages.next()
    const call = async (id: number, { method, params }: RemoteCall): Promise<void> => {
      socket.write(frame(JSON.stringify({ id, method, params })))
      for (let left = MAX_MESSAGES; left > 0; left--) {
        const { value, done } = await messages.next()
        if (done === true || answers(value, id)) return
      }
    }
    await call(0, { method: 'initialize', params: { clientInfo: { name: 'holdfast', version: '1' }, capabilities: { experimentalApi: true } } })
    socket.write(frame(JSON.stringify({ method: 'initialized' })))
    for (const [index, one] of calls.entries()) await call(index + 1, one)
  }
  const timer = setTimeout(() => socket.destroy(new Error(`${path} did not answer within ${ms} ms`)), ms)
  try {
    await talk()
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}
/** It also tells what nobody asked. */
const MAX_MESSAGES = 1000
const MAX_BYTES = 8 * 1024 * 1024

const handshake = (): string =>
  `GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`

/** What a client sends is masked. */
function frame(text: string): Buffer {
  const payload = Buffer.from(text)
  const mask = randomBytes(4)
  for (const [index, byte] of payload.entries()) payload[index] = byte ^ (mask[index % 4] ?? 0)
  const short = payload.length < 126
  const head = Buffer.alloc(short ? 2 : 4)
  head[0] = 0x81
  head[1] = 0x80 | (short ? payload.length : 126)
  if (!short) head.writeUInt16BE(payload.length, 2)
  return Buffer.concat([head, mask, payload])
}

/** First the answer to the handshake, then one message after the other. */
async function* received(socket: Socket): AsyncGenerator<string, void> {
  let buffer: Buffer = Buffer.alloc(0)
  let open = false
  for await (const chunk of socket) {
    buffer = Buffer.concat([buffer, chunk as Buffer])
    if (buffer.length > MAX_BYTES) throw new Error('it says too much')
    const end = buffer.indexOf('\r\n\r\n')
    if (!open && end < 0) continue
    if (!open) {
      const status = buffer.toString('latin1', 0, end)
      if (!status.startsWith('HTTP/1.1 101')) throw new Error(`it does not speak WebSocket: ${status.split('\r\n', 1)[0]}`)
      open = true
      buffer = buffer.subarray(end + 4)
      yield status
    }
    for (let message = unframe(buffer); message !== null; message = unframe(buffer)) {
      buffer = buffer.subarray(message.size)
      yield message.text
    }
  }
}

/** The first whole frame; null: it is not there yet. What a server sends is not masked. */
export function unframe(buffer: Buffer): { readonly text: string; readonly size: number } | null {
  if (buffer.length < 2) return null
  const told = (buffer[1] ?? 0) & 0x7f
  const from = told === 127 ? 10 : told === 126 ? 4 : 2
  if (buffer.length < from) return null
  const length = told === 127 ? Number(buffer.readBigUInt64BE(2)) : told === 126 ? buffer.readUInt16BE(2) : told
  return buffer.length < from + length ? null : { text: buffer.toString('utf8', from, from + length), size: from + length }
}

function answers(text: string, id: number): boolean {
  try {
    return (JSON.parse(text) as { id?: unknown } | null)?.id === id
  } catch {
    return false
  }
}
