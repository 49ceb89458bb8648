import { expect } from 'vitest'
import type { ClaimRequest, Ending, ProcessId, RunBase, Store } from '../../src/model/index.ts'
import { isLive } from '../../src/model/index.ts'
import { directory } from '../decide/build.ts'

export const place = { install: 'i', machine: 'm', boot: 'b', pidNamespace: 'p', timeNamespace: 't' }
let serial = 0

export function aRun(session: string, epoch = 1, more: Partial<RunBase> = {}): RunBase {
  serial++
  return {
    id: `r${String(serial).padStart(12, '0')}`,
    session,
    epoch,
    place,
    launcher: { pid: 100, ticks: 1000 },
    marker: 4_000_000_000_000_001 + serial,
    cookie: `cookie-${serial}`,
    argv: ['agent', '--flag', 'ä "quoted"\n'],
    dir: `/work/${session}`,
    detached: true,
    until: 'harness',
    deadlineAt: null,
    parent: null,
    independent: false,
    containment: { level: 'none', why: 'a test' },
    task: null,
    adopted: false,
    budget: null,
    budgetCost: null,
    tmux: { socket: '/home/a/holdfast/tmux/sock', name: 'r000000000001' },
    host: 'here',
    user: 'me',
    tty: null,
    startedAt: 1_700_000_000_000 + serial,
    ...more,
  }
}

export const aClaim = (run: RunBase, more: Partial<ClaimRequest> = {}): ClaimRequest => ({
  run,
  keeper: null,
  name: null,
  directory: directory(run.dir),
  seenEpoch: run.epoch - 1,
  harness: null,
  native: null,
  seenLock: 0,
  share: null,
  reason: 'an agent works here',
  ancestors: [],
  ...more,
})

export const anEnding = (more: Partial<Ending> = {}): Ending => ({
  state: 'completed',
  exit: { code: 0, signal: null },
  reason: 'exit code 0',
  evidence: ['seen'],
  by: 'keeper',
  ...more,
})

/** A new empty store; `again` gives another connection to the same. */
export type OpenStore = () => Promise<{ store: Store; again: () => Promise<Store>; done: () => Promise<void> }>

/** A test body with a store of its own. */
export const inStore = (open: OpenStore) => (body: (store: Store, again: () => Promise<Store>) => Promise<void>) => async () => {
  const { store, again, done } = await open()
  try {
    await body(store, again)
  } finally {
    await done()
  }
}

export const keeper: ProcessId = { pid: 200, ticks: 2000 }

export async function started(store: Store, run: RunBase): Promise<RunBase> {
  expect(await store.claims.claim(aClaim(run))).toEqual({ kind: 'won', epoch: run.epoch })
  expect(await store.claims.recordRunning(run, keeper, 1)).toBe(true)
  return run
}

/** Ends a run as it stands now; answers whether that was taken. */
export async function end(store: Store, { id }: RunBase, ending: Ending, harness: ProcessId | null, at: number): Promise<boolean> {
  const run = await store.runs.get(id)
  if (run === null || !isLive(run)) throw new Error(`${id} is not live`)
  return store.claims.recordEnded(run, ending, harness, at)
}
