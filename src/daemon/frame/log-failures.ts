import type { Clock } from '../../model/index.ts'
import { exitCode } from '../../model/index.ts'
import type { Farewell } from './exit.ts'
import { errorText, type Log } from './log.ts'
import type { Told } from './loop.ts'
import { isOfNewer } from './take-home.ts'

/**
 * What of the rounds goes into the log: a failure when it is another one than before, else once in each pause; and that it is over. A store of a newer
 * Holdfast ends the daemon: to serve what it does not know would be wrong.
 */
export function tellFailures(log: Log, { end }: Pick<Farewell, 'end'>, clock: Clock): Told {
  const last = new Map<string, { readonly words: string; readonly againAt: number }>()
  return (name, error, pauseMs) => {
    if (error === null) {
      last.delete(name)
      log(`${name}: well again`)
      return
    }
    const words = errorText(error)
    const before = last.get(name)
    if (before?.words !== words || clock.elapsed() >= before.againAt) {
      last.set(name, { words, againAt: clock.elapsed() + pauseMs })
      log(`${name} failed: ${words}; it is tried again in ${Math.ceil(pauseMs / 1000)} s`)
    }
    if (isOfNewer(error)) end(`${error.message}: a newer Holdfast is at work here; holdfast daemon start starts that`, exitCode.unavailable)
  }
}
