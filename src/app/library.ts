import { fileURLToPath } from 'node:url'
import type { HoldfastEvent, Lock } from '../model/index.ts'
import type { Sight } from '../show/index.ts'
import { type Change, reconcile } from './reconcile.ts'
import { seeAll, seeEvents, seeLocks, seeOne } from './see.ts'
import { type Started, type StartRequest, start } from './start.ts'
import { type Stopped, type StopRequest, stop } from './stop.ts'
import { waitForEnd } from './wait.ts'
import { openWorld } from './world.ts'

export type { Ended, Exit, Run, RunState, Session } from '../model/index.ts'
export { Problem } from '../model/index.ts'
export type { Change, HoldfastEvent, Lock, Sight, Started, StartRequest, Stopped, StopRequest }

/** The use cases of the command line, for other tools. Runs started from here are always detached. */
export type Holdfast = {
  start(request: Omit<StartRequest, 'detach' | 'onLive'> & { onLive?: StartRequest['onLive'] }): Promise<Started>
  stop(request: StopRequest): Promise<Stopped[]>
  status(reference: string): Promise<Sight>
  list(which?: 'live' | 'all'): Promise<Sight[]>
  locks(): Promise<(Lock & { pid: number | null })[]>
  events(reference: string | null, after?: number): Promise<HoldfastEvent[]>
  /** Null: the time was over first. */
  wait(reference: string, timeoutMs?: number): ReturnType<typeof waitForEnd>
  reconcile(): Promise<Change[]>
  close(): void
}

export function openHoldfast(options: { home?: string; env?: NodeJS.ProcessEnv } = {}): Holdfast {
  const world = openWorld({ assets: fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, ''), ...options })
  return {
    start: (request) => start(world, { onLive: 'refuse', ...request, detach: true }),
    stop: (request) => stop(world, request),
    status: (reference) => seeOne(world, reference),
    list: async (which = 'live') => (await seeAll(world, which)).sights,
    locks: () => seeLocks(world),
    events: (reference, after = 0) => seeEvents(world, reference, after),
    wait: (reference, timeoutMs) => waitForEnd(world, reference, timeoutMs ?? null),
    reconcile: () => reconcile(world),
    close: () => world.close(),
  }
}
