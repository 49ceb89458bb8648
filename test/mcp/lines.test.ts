import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundedLines } from '../../src/mcp/lines.ts'

/** What comes out of these chunks, and what was said of the rest. */
async function through(chunks: readonly Uint8Array[], most: number): Promise<{ out: string; leftOut: string[] }> {
  const leftOut: string[] = []
  const lines = boundedLines(
    most,
    (why) => leftOut.push(why),
    async () => {},
  )
  const pieces: Buffer[] = []
  lines.on('data', (piece: Buffer) => pieces.push(piece))
  for (const chunk of chunks) lines.write(chunk)
  lines.end()
  await new Promise((done) => lines.once('end', done))
  return { out: Buffer.concat(pieces).toString('latin1'), leftOut }
}

const MOST = 12
/** Few letters, many newlines, and lines just around the bound. */
const bytes = fc.array(fc.constantFrom(10, 97, 98, 195), { maxLength: 120 }).map((codes) => Uint8Array.from(codes))

test('however it is cut: whole lines within the bound come through as they are, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(bytes, fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 40 }), async (all, cuts) => {
      const chunks: Uint8Array[] = []
      let from = 0
      for (const size of [...cuts, all.length]) {
        chunks.push(all.subarray(from, from + size))
        from += size
      }
      const lines = Buffer.from(all).toString('latin1').split('\n')
      const rest = lines.pop() ?? ''
      const fits = (line: string): boolean => line.length + 1 <= MOST
      const { out, leftOut } = await through(chunks, MOST)
      expect(out).toBe(
        lines
          .filter(fits)
          .map((line) => `${line}\n`)
          .join(''),
      )
      expect(leftOut).toHaveLength(lines.filter((line) => !fits(line)).length + (rest === '' ? 0 : 1))
    }),
  )
})

test('what is left out is told with its size, and so is a message that was cut off', async () => {
  const { leftOut } = await through([Buffer.from(`${'x'.repeat(50)}\nhalf a mess`)], MOST)
  expect(leftOut).toEqual(['a message of 51 bytes was left out: 12 are the most', 'the last message was cut off'])
})

test('the end is passed on only after what comes before it', async () => {
  const order: string[] = []
  const lines = boundedLines(
    MOST,
    () => {},
    async () => {
      await new Promise((next) => setImmediate(next))
      order.push('last')
    },
  )
  lines.on('data', () => order.push('data')).on('end', () => order.push('end'))
  lines.end('a\n')
  await new Promise((done) => lines.once('end', done))
  expect(order).toEqual(['data', 'last', 'end'])
})
