import type { Clock } from '../../model/index.ts'
import { policy } from '../../model/index.ts'

/** Which runs something happened to, until somebody looks at them. */
export type Ears = {
  /** Something happened to it: it shall be looked at soon; `inMs`: not before. */
  touch(run: string, inMs?: number): void
  /** Those whose time has come; from now on they are the caller's. */
  take(): string[]
  close(): void
}

/** `wake` is called when one is due. Each is due soon after it was touched, but the same one only so often. */
export function openEars(clock: Clock, wake: () => void): Ears {
  const dueAt = new Map<string, number>()
  const lookedAt = new Map<string, number>()
  let alarm: { readonly at: number; readonly timer: NodeJS.Timeout } | null = null

  function setAlarm(): void {
    const at = Math.min(...dueAt.values())
    if (alarm !== null && alarm.at <= at) return
    if (alarm !== null) clearTimeout(alarm.timer)
    const ring = (): void => {
      alarm = null
      wake()
    }
    alarm = Number.isFinite(at) ? { at, timer: setTimeout(ring, Math.max(0, at - clock.elapsed())).unref() } : null
  }

  return {
    touch(run, inMs = 0) {
      const now = clock.elapsed()
      const at = Math.max(now + Math.max(inMs, policy.daemonHearMs), (lookedAt.get(run) ?? Number.NEGATIVE_INFINITY) + policy.daemonHearAgainMs)
      dueAt.set(run, Math.min(at, dueAt.get(run) ?? at))
      setAlarm()
    },
    take() {
      const now = clock.elapsed()
      for (const [run, at] of lookedAt) if (now - at > policy.daemonHearAgainMs) lookedAt.delete(run)
      const due = [...dueAt].filter(([, at]) => at <= now + EARLY_MS).map(([run]) => run)
      for (const run of due) {
        dueAt.delete(run)
        lookedAt.set(run, now)
      }
      if (dueAt.size > 0) setAlarm()
      return due
    },
    close() {
      dueAt.clear()
      if (alarm !== null) clearTimeout(alarm.timer)
      alarm = null
    },
  }
}

/** Alarms ring a little too early at times: what they ring for is due all the same. */
const EARLY_MS = 2
