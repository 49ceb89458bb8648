import type { DaemonHealth, PartHealth } from '../model/index.ts'

/** A part as the loop knows it. Its times only grow: no clock that somebody sets, and no sleep of the machine, changes what is due. */
export type PartState = {
  readonly name: string
  readonly succeededAt: number | null
  readonly failures: number
  /** How many rounds in a row came to nothing at all: what the pauses grow by. */
  readonly broken: number
  readonly lastError: string | null
  readonly counts: PartHealth['counts']
  /** When its next round is due; null: it is at work, since then. */
  readonly dueAt: number | null
  readonly beganAt: number
}

export const unborn = (name: string, at: number): PartState => ({
  name,
  succeededAt: null,
  failures: 0,
  broken: 0,
  lastError: null,
  counts: {},
  dueAt: at,
  beganAt: at,
})

export const atWork = (part: PartState, at: number): PartState => ({ ...part, dueAt: null, beganAt: at })

export const succeeded = (part: PartState, counts: PartHealth['counts'], at: number, dueAt: number): PartState => ({
  ...part,
  succeededAt: at,
  failures: 0,
  broken: 0,
  lastError: null,
  dueAt,
  counts,
})

/** Its round was done, but something went wrong in it: no success, and no reason to pause for longer. */
export const troubled = (part: PartState, lastError: string, counts: PartHealth['counts'], dueAt: number): PartState => ({
  ...part,
  failures: part.failures + 1,
  broken: 0,
  lastError,
  dueAt,
  counts,
})

export const failed = (part: PartState, lastError: string, dueAt: number): PartState => ({
  ...part,
  failures: part.failures + 1,
  broken: part.broken + 1,
  lastError,
  dueAt,
})

/** `now`: the same moment by the clock on the wall and by the one that only grows. `roundMs`: what takes longer fails. */
export type Moment = { readonly wall: number; readonly grown: number }

/** All is well when no part has failed since its last good round, and none is at one for too long. */
export function healthOf(states: readonly PartState[], now: Moment, roundMs: number): DaemonHealth {
  const parts = states.map((state) => partHealth(state, now, roundMs))
  const failing = parts.filter(({ failures }) => failures > 0)
  const why = failing.map(({ name, lastError }) => `${name}: ${lastError ?? 'it failed'}`).join('; ')
  return { at: now.wall, healthy: failing.length === 0, why: failing.length === 0 ? null : why, parts }
}

function partHealth({ name, succeededAt, failures, lastError, counts, dueAt, beganAt }: PartState, now: Moment, roundMs: number): PartHealth {
  const wall = (grown: number | null): number | null => (grown === null ? null : Math.round(now.wall + grown - now.grown))
  const workMs = dueAt === null ? now.grown - beganAt : 0
  const stuck = workMs > roundMs
  return {
    name,
    lastSuccess: wall(succeededAt),
    failures: stuck ? failures + 1 : failures,
    lastError: stuck ? `at work for ${Math.round(workMs / 1000)} s` : lastError,
    nextTry: wall(dueAt),
    counts,
  }
}

/** What is worth an event: that the whole has changed. */
export function turn(before: boolean, now: DaemonHealth): { readonly what: 'unhealthy' | 'healthy'; readonly why: string | null } | null {
  if (before === now.healthy) return null
  return { what: now.healthy ? 'healthy' : 'unhealthy', why: now.why }
}

/** Does a daemon's health read the same, times and counts aside? */
export const sameHealth = (a: DaemonHealth, b: DaemonHealth): boolean => wordsOf(a) === wordsOf(b)

const wordsOf = ({ healthy, why, parts }: DaemonHealth): string =>
  JSON.stringify([healthy, why, parts.map(({ name, failures, lastError }) => [name, failures, lastError])])
