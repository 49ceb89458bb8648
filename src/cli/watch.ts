import { constants } from 'node:os'
import { isatty, type ReadStream } from 'node:tty'
import { print, screen } from './out.ts'

const EVERY_MS = 1_000
/** `q`, and what Ctrl-C and Ctrl-D are where the terminal makes no signals of keys. */
const QUIT = ['q', 'Q', '\u0003', '\u0004']

/** Shows lines again and again: on a terminal until `q`, on a screen of its own; a pipe gets each list in full, and no escape codes. */
export async function watch(look: () => Promise<readonly string[]>, sleep: (ms: number) => Promise<unknown>): Promise<number> {
  if (!isatty(1)) {
    for (;;) {
      print([...(await look()), ''])
      await sleep(EVERY_MS)
    }
  }
  const ending = endings()
  screen.enter()
  try {
    for (;;) {
      screen.show([...(isatty(0) ? ['q ends this list', ''] : []), ...(await look())])
      const code = await Promise.race([sleep(EVERY_MS), ending.came])
      if (typeof code === 'number') return code
    }
  } finally {
    ending.stop()
    screen.leave()
  }
}

/** How a person or another program ends it, as an exit code. */
function endings(): { readonly came: Promise<number>; stop(): void } {
  const keys: ReadStream | null = isatty(0) ? process.stdin : null
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  let told: (code: number) => void = () => {}
  const came = new Promise<number>((tell) => {
    told = tell
  })
  const onKey = (data: Buffer): void => {
    if (QUIT.some((key) => data.includes(key))) told(0)
  }
  const onSignal = (signal: NodeJS.Signals): void => told(128 + constants.signals[signal])
  for (const signal of signals) process.on(signal, onSignal)
  keys?.setRawMode(true)
  keys?.on('data', onKey)
  return {
    came,
    stop: () => {
      for (const signal of signals) process.off(signal, onSignal)
      keys?.off('data', onKey)
      keys?.setRawMode(false)
      keys?.pause()
    },
  }
}
