import { atWork, backoffMs, failed, healthOf, type PartState, succeeded, troubled, unborn } from '../../decide/index.ts'
import type { Clock, DaemonHealth, Policy } from '../../model/index.ts'
import { policy as ours } from '../../model/index.ts'

/** One thing that the daemon sees to, at its own pace. That it fails is its own matter: told, and tried again after a pause that grows. */
export type Part = {
  readonly name: string
  readonly everyMs: number
  /** So long after the start its first round comes; at once, if it does not say. */
  readonly afterMs?: number
  /** One round; answers what it counted. Everything that it awaits must have a bound. */
  round(): Promise<Readonly<Record<string, number>>>
  /** What of its last round went wrong although it was done: told as a failure, but no reason to pause for longer. */
  trouble?(): string | null
  close?(): Promise<void>
}

export type Loop = {
  /** Have it do a round now, or once more right after the one it is at. One that fails is not hurried below the shortest pause. */
  wake(part: string): void
  health(): DaemonHealth
  /** Begins no more rounds, waits for those under way and has each part close, each for so long at most; answers who did not end in time. */
  stop(): Promise<readonly string[]>
}

/** What came of a round that is worth a word: a failure, or that it is well again (null). `pauseMs`: until it is tried again. */
export type Told = (name: string, error: unknown, pauseMs: number) => void

/** Until the next round, unless it is woken before, but so long at least. */
type Rest = { readonly ms: number; readonly atLeastMs: number }

type Bounds = Pick<Policy, 'backoffMinMs' | 'backoffMaxMs' | 'daemonRoundMs' | 'daemonLeaveMs' | 'daemonCloseMs' | 'daemonPulseMs'>

export function startLoop(parts: readonly Part[], clock: Clock, told: Told, bounds: Bounds = ours): Loop {
  const grown = waking(clock, bounds.daemonPulseMs)
  const states = new Map<string, PartState>(parts.map(({ name }) => [name, unborn(name, grown())]))
  const alarms = new Map<string, () => void>()
  const woken = new Set<string>()
  const late: string[] = []
  let stopping = false
  const going = new Map(parts.map((part) => [part, keepGoing(part)]))

  async function keepGoing(part: Part): Promise<void> {
    if (part.afterMs !== undefined) {
      states.set(part.name, { ...unborn(part.name, grown()), dueAt: grown() + part.afterMs })
      await rest(part.name, { ms: part.afterMs, atLeastMs: 0 })
    }
    while (!stopping) {
      woken.delete(part.name)
      const pause = await goRound(part)
      await rest(part.name, pause)
    }
  }

  async function goRound(part: Part): Promise<Rest> {
    const before = states.get(part.name) ?? unborn(part.name, grown())
    states.set(part.name, atWork(before, grown()))
    try {
      const counts = await part.round()
      const trouble = part.trouble?.() ?? null
      const [now, dueAt] = [grown(), grown() + part.everyMs]
      states.set(part.name, trouble === null ? succeeded(before, counts, now, dueAt) : troubled(before, trouble, counts, dueAt))
      if (trouble !== before.lastError) told(part.name, trouble, part.everyMs)
      return { ms: part.everyMs, atLeastMs: 0 }
    } catch (error) {
      const pause = backoffMs(before.broken, { minMs: bounds.backoffMinMs, maxMs: bounds.backoffMaxMs }, clock.random())
      states.set(part.name, failed(before, error instanceof Error ? error.message : String(error), grown() + pause))
      told(part.name, error, pause)
      return { ms: pause, atLeastMs: Math.min(pause, bounds.backoffMinMs) }
    }
  }

  /** Until it is due, woken (a failing one after the shortest pause at the soonest), or the end. */
  async function rest(name: string, { ms, atLeastMs }: Rest): Promise<void> {
    if (atLeastMs > 0) await pause(name, atLeastMs, () => stopping)
    if (ms > atLeastMs) await pause(name, ms - atLeastMs, () => stopping || woken.has(name))
  }

  function pause(name: string, ms: number, isOver: () => boolean): Promise<void> {
    if (isOver()) return Promise.resolve()
    return new Promise((resume) => {
      const done = (): void => {
        clearTimeout(timer)
        alarms.delete(name)
        resume()
      }
      const timer = setTimeout(done, ms)
      alarms.set(name, () => isOver() && done())
    })
  }

  async function leave(part: Part): Promise<void> {
    const isOut = await within(bounds.daemonLeaveMs, going.get(part))
    const isClosed = await within(bounds.daemonCloseMs, (async () => part.close?.())())
    if (!isOut || !isClosed) late.push(part.name)
  }

  return {
    wake(name) {
      woken.add(name)
      alarms.get(name)?.()
    },
    health: () => healthOf([...states.values()], { wall: clock.now(), grown: grown() }, bounds.daemonRoundMs),
    async stop() {
      stopping = true
      for (const alarm of alarms.values()) alarm()
      await Promise.all(parts.map(leave))
      return late
    },
  }
}

/**
 * Time in which we were awake. It is looked at with every pulse, so that a long gap (a frozen process, a machine asleep) counts as one
 * pulse: nobody was at work for an hour because we were not there.
 */
function waking(clock: Clock, pulseMs: number): () => number {
  let last = clock.elapsed()
  let total = 0
  return () => {
    const now = clock.elapsed()
    total += Math.min(now - last, 2 * pulseMs)
    last = now
    return total
  }
}

/** Did it come to its end in time, well or not? */
export async function within(ms: number, work: Promise<unknown> | undefined): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const bound = new Promise<boolean>((over) => {
    timer = setTimeout(() => over(false), ms)
  })
  const done = (work ?? Promise.resolve()).then(
    () => true,
    () => true,
  )
  const isInTime = await Promise.race([done, bound])
  clearTimeout(timer)
  return isInTime
}
