import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { ask } from '../../src/keep/harness/ask-harness.ts'
import { callRemote, unframe } from '../../src/keep/harness/json-rpc.ts'

const folder = mkdtempSync(join(tmpdir(), 'hf-ask-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Request = { id?: number; method: string; params?: unknown }
let serial = 0

/** An app server as Codex 0.166 has it: WebSocket on a socket in the file system; it also says things that nobody asked. */
async function appServer(answer: (request: Request) => string[], status = '101 Switching Protocols') {
  const heard: Request[] = []
  const path = join(folder, `s${++serial}`)
  const server: Server = createServer((socket) => {
    let buffer: Buffer = Buffer.alloc(0)
    let open = false
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      buffer = Buffer.concat([buffer, chunk])
      const end = buffer.indexOf('\r\n\r\n')
      if (!open && end < 0) return
      if (!open) {
        const key = /Sec-WebSocket-Key: (\S+)/.exec(buffer.toString())?.[1] ?? ''
        const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
        socket.write(`HTTP/1.1 ${status}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`)
        buffer = buffer.subarray(end + 4)
        open = true
      }
      for (let text = unmasked(); text !== null; text = unmasked()) {
        const request = JSON.parse(text) as Request
        heard.push(request)
        for (const line of answer(request)) socket.write(serverFrame(line))
      }
    })
    const unmasked = (): string | null => {
      const length = (buffer[1] ?? 0) & 0x7f
      const from = length === 126 ? 4 : 2
      const size = length === 126 && buffer.length >= 4 ? buffer.readUInt16BE(2) : length
      if (buffer.length < from + 4 + size || buffer.length < 2) return null
      const mask = buffer.subarray(from, from + 4)
      const text = Buffer.from(buffer.subarray(from + 4, from + 4 + size).map((byte, index) => byte ^ (mask[index % 4] ?? 0))).toString()
      buffer = buffer.subarray(from + 4 + size)
      return text
    }
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => void server.close())
  return { path, heard }
}

function serverFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  const head = payload.length < 126 ? Buffer.from([0x81, payload.length]) : Buffer.from([0x81, 126, payload.length >> 8, payload.length & 255])
  return Buffer.concat([head, payload])
}
const politely = ({ id }: Request): string[] =>
  id === undefined ? [] : ['{"method":"note"}', JSON.stringify({ id, result: { text: 'x'.repeat(300) } })]
const calls = [
  { method: 'turn/interrupt', params: { threadId: 't', turnId: 'u'.repeat(200) } },
  { method: 'thread/backgroundTerminals/clean', params: { threadId: 't' } },
]

test('calls are made one after the other, after a greeting', async () => {
  const { path, heard } = await appServer(politely)
  await callRemote(path, calls, 20_000)
  expect(heard.map(({ method }) => method)).toEqual(['initialize', 'initialized', 'turn/interrupt', 'thread/backgroundTerminals/clean'])
  expect(heard[2]?.params).toEqual(calls[0]?.params)
})

test('nobody there, one that refuses, and one that never answers: it is told in time, and asking goes on', async () => {
  await expect(callRemote(join(folder, 'none'), calls, 20_000)).rejects.toThrow('ENOENT')
  const refusing = await appServer(politely, '403 Forbidden')
  await expect(callRemote(refusing.path, calls, 20_000)).rejects.toThrow('it does not speak WebSocket: HTTP/1.1 403 Forbidden')
  const silent = await appServer(() => [])
  await expect(callRemote(silent.path, calls, 100)).rejects.toThrow('did not answer within 100 ms')
  await ask({ kind: 'calls', socket: join(folder, 'none'), calls }, {}, 100)
})

test('a frame is taken when it is whole, however long it is', () => {
  const long = JSON.stringify({ id: 1, text: 'y'.repeat(70_000) })
  const head = Buffer.alloc(10)
  head[0] = 0x81
  head[1] = 127
  head.writeBigUInt64BE(BigInt(long.length), 2)
  const frame = Buffer.concat([head, Buffer.from(long)])
  expect(unframe(frame)).toEqual({ text: long, size: frame.length })
  for (const size of [0, 1, 5, frame.length - 1]) expect(unframe(frame.subarray(0, size))).toBeNull()
})

test('a command has the environment that it is given, and so long', async () => {
  const mark = join(folder, 'mark')
  await ask({ kind: 'command', command: ['/bin/sh', '-c', ': >"$MARK"'] }, { MARK: mark }, 20_000)
  expect(existsSync(mark)).toBe(true)
  const began = performance.now()
  await ask({ kind: 'command', command: ['/bin/sleep', '1000'] }, {}, 100)
  await ask({ kind: 'command', command: [join(folder, 'none')] }, {}, 100)
  expect(performance.now() - began).toBeLessThan(60_000)
})
