import { PassThrough, Writable } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import type { Subscriptions } from '../../src/mcp/subscriptions.ts'
import { stdioWire, type Wire } from '../../src/mcp/wire.ts'
import { policy } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

const MOST = policy.mcpRequests
const NOBODY: Subscriptions = { add: async () => {}, remove: () => {}, size: 0 }
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((next) => setImmediate(next))
}
const answer = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: {} })

/** A wire on whose other end so many requests are made at once, and what was heard of them. `ids`: they have so many different ones. */
async function asked(count: number, { reads, ids = count }: { reads: boolean; ids?: number }) {
  const input = new PassThrough({ highWaterMark: 100 * count })
  const written: string[] = []
  let read = (): void => {}
  const output = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk.toString())
      if (reads) done()
      else read = done
    },
  })
  const wire: Wire = stdioWire(input, output, NOBODY)
  const heard: number[] = []
  wire.onmessage = (message) => void heard.push((message as { id: number }).id)
  await wire.start()
  for (let id = 0; id < count; id++) input.write(`${JSON.stringify({ jsonrpc: '2.0', id: id % ids, method: 'tools/list' })}\n`)
  await turns()
  return { wire, input, heard, written, readOne: () => read() }
}

verifies('bounded', 'so many requests are under way at most, whatever ids they have; those that are answered or called off make room', async () => {
  for (const ids of [5000, 1]) {
    const { wire, heard, written, input } = await asked(5000, { reads: true, ids })
    expect([heard.length, wire.unanswered()]).toEqual([MOST, MOST])
    for (const id of heard.slice(0, 10)) await wire.send(answer(id))
    await turns()
    expect([heard.length, written.length, wire.unanswered()]).toEqual([MOST + 10, 10, MOST])
    for (let at = 10; at < 5000; at++) {
      if (heard[at] === undefined) await turns()
      await wire.send(answer(heard[at] ?? Number.NaN))
    }
    await turns()
    expect([heard.length, wire.unanswered(), input.readableLength]).toEqual([5000, 0, 0])
    await wire.close()
  }
})

test('one that was called off is waited for no longer', async () => {
  const { wire, heard, input } = await asked(MOST - 1, { reads: true })
  input.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: heard[3] } })}\n`)
  await turns()
  expect(wire.unanswered()).toBe(MOST - 2)
})

verifies('bounded', 'answers that nobody reads stop the hearing, and reading them lets it go on', async () => {
  const { wire, heard, written, readOne } = await asked(5000, { reads: false })
  for (const id of heard) wire.send(answer(id)).catch(() => {})
  await turns()
  expect([heard.length, written.length, wire.unanswered()]).toEqual([MOST, 1, MOST - 1])
  for (let at = 0; at < 3; at++) {
    readOne()
    await turns()
  }
  expect([heard.length, written.length]).toEqual([MOST + 4, 4])
  await wire.close()
})
