import { Transform } from 'node:stream'

const NEWLINE = 10

/**
 * Whole lines of a bounded length, whatever comes in. What is longer is left out, and held in no memory; so is a last line that nobody ended.
 * `last`: what comes before the end is passed on. `heldBytes`: so much is taken in while nobody wants the lines.
 */
export function boundedLines(mostBytes: number, leftOut: (why: string) => void, last: () => Promise<void>, heldBytes?: number): Transform {
  let parts: Buffer[] = []
  let size = 0
  const take = (part: Buffer): void => {
    size += part.length
    if (size <= mostBytes) parts.push(part)
    else parts = []
  }
  return new Transform({
    ...(heldBytes === undefined ? {} : { writableHighWaterMark: heldBytes }),
    transform(chunk: Buffer, _encoding, done) {
      let from = 0
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
        take(chunk.subarray(from, end + 1))
        from = end + 1
        if (size > mostBytes) leftOut(`a message of ${size} bytes was left out: ${mostBytes} are the most`)
        else this.push(Buffer.concat(parts))
        parts = []
        size = 0
      }
      if (from < chunk.length) take(chunk.subarray(from))
      done()
    },
    flush(done) {
      if (size > 0) leftOut('the last message was cut off')
      last().then(() => done(), done)
    },
  })
}
