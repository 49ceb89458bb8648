import { atWork, backoffMs, failed, healthOf, succeeded, unborn } from '../decide/index.ts'
import type { Clock, DaemonHealth, PartHealth } from '../model/index.ts'
import { policy } from '../model/index.ts'

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
  /** Have it do a round now, or once more right after the one it is at. */
  wake(part: string): void
  health(): DaemonHealth
  /** Begins no more rounds, and waits for those under way. */
  stop(): Promise<void>
}

/** `told`: called after each round that changed how a part does. */
export function startLoop(parts: readonly Part[], clock: Clock, told: (part: PartHealth, error: unknown) => void): Loop {
  const states = new Map(parts.map(({ name }) => [name, unborn(name)]))
  const alarms = new Map<string, () => void>()
  const woken = new Set<string>()
  let stopping = false
  const going = parts.map((part) => keepGoing(part))

  async function keepGoing(part: Part): Promise<void> {
    if (part.afterMs !== undefined) {
      states.set(part.name, { ...unborn(part.name), nextTry: clock.now() + part.afterMs })
      await rest(part.name, part.afterMs)
    }
    while (!stopping) {
      woken.delete(part.name)
      const pause = await goRound(part)
      if (!stopping && !woken.has(part.name)) await rest(part.name, pause)
    }
    await part.close?.()
  }

  async function goRound(part: Part): Promise<number> {
    const before = states.get(part.name) ?? unborn(part.name)
    states.set(part.name, atWork(before))
    try {
      const counts = await part.round()
      const done = succeeded(before, counts, clock.now(), clock.now() + part.everyMs)
      const trouble = part.trouble?.() ?? null
      states.set(part.name, trouble === null ? done : { ...done, failures: before.failures + 1, lastError: trouble })
      if (trouble !== before.lastError) told(states.get(part.name) as PartHealth, trouble)
      return part.everyMs
    } catch (error) {
      const pause = backoffMs(before.failures, { minMs: policy.backoffMinMs, maxMs: policy.backoffMaxMs }, clock.random())
      states.set(part.name, failed(before, error instanceof Error ? error.message : String(error), clock.now() + pause))
      told(states.get(part.name) as PartHealth, error)
      return pause
    }
  }

  function rest(name: string, ms: number): Promise<void> {
    return new Promise((resume) => {
      const timer = setTimeout(resume, ms)
      alarms.set(name, () => {
        clearTimeout(timer)
        resume()
      })
    })
  }

  return {
    wake(name) {
      woken.add(name)
      alarms.get(name)?.()
    },
    health: () => healthOf([...states.values()], clock.now()),
    async stop() {
      stopping = true
      for (const alarm of alarms.values()) alarm()
      await Promise.all(going)
    },
  }
}
