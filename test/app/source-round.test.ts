import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sourceRound } from '../../src/app/index.ts'
import { HEALTHY } from '../../src/decide/index.ts'
import type { SourceHealth, SourceSettings, Store, WorkRequest } from '../../src/model/index.ts'
import { openSqliteStore } from '../../src/record/index.ts'
import { httpSource, STANDARD } from '../../src/source/index.ts'
import { type Fault, type Plane, type PlaneItem, servePlane } from '../fixtures/work-source.ts'
import { verifies } from '../requirements.ts'

const root = mkdtempSync(join(tmpdir(), 'hf-sources-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let serial = 0
let plane: Plane
let store: Store
let now = 0
let held: (request: WorkRequest) => boolean
const clock = { now: () => now, elapsed: () => now, sleep: async () => {} }

beforeEach(async () => {
  plane = await servePlane()
  now = 1_000_000
  held = () => true
  const options = { path: join(root, `${++serial}.db`), clock, patienceMs: 5000, writePatienceMs: 5000, backoff: () => 5 }
  store = await openSqliteStore(options as unknown as Parameters<typeof openSqliteStore>[0])
})
afterEach(async () => {
  store.close()
  await plane.close()
})

const settings = (over: Partial<SourceSettings> = {}): SourceSettings => ({
  name: 'plane',
  kind: 'http',
  url: plane.url,
  token: null,
  repo: '/repo',
  repositories: { 'o/r': '/other' },
  labels: [],
  harness: 'claude',
  publish: 'branch',
  review: false,
  reworkLimit: 3,
  open: 10,
  ...over,
})
async function pass(before: SourceHealth = HEALTHY, over: Partial<SourceSettings> = {}) {
  const source = httpSource({ name: 'plane', url: plane.url, token: async () => plane.token, host: 'here', worker: 'w' }, STANDARD)
  const ports = { source, settings: settings(over), clock, random: () => 0.5, install: 'i1', isHeld: async (request: WorkRequest) => held(request) }
  return sourceRound(ports, store, before)
}
const open = () => store.requests.list('open', 100)
const byKey = async (key: string): Promise<WorkRequest> => {
  const request = (await store.requests.ofSource('plane', [key])).get(key)
  if (request === undefined) throw new Error(`no request of ${key}`)
  return request
}
/** The steps that a worker would record. */
async function begin(key: string): Promise<{ id: string; token: number }> {
  const { id, token } = await byKey(key)
  const seenClaim = await store.requests.newestClaim()
  const claimant = {
    process: { pid: 7, ticks: 8 },
    place: { install: 'i', machine: 'm', boot: 'b', pidNamespace: 'p', timeNamespace: 't' },
    host: 'here',
  }
  const won = await store.requests.claim({ id, token, seenClaim, seenEpoch: 0, claimant, at: now })
  const holds = { id, token: won ?? -1 }
  await store.requests.recordStarted(holds, `r-${key}`, now)
  return holds
}
const states = (item: PlaneItem): string[] => item.reports.map(({ state }) => state)

describe('intake', () => {
  test('items become requests once, with their place, in the order of priority', async () => {
    plane.add({ id: 'a', title: 'A', text: 'do A', labels: ['kind=bug', 'plain'] })
    plane.add({ id: 'b', priority: 1, repository: 'o/r' })
    plane.add({ id: 'c', repository: 'o/unknown' })
    expect((await pass()).counts.taken).toBe(2)
    expect((await pass()).counts.taken).toBe(0)
    expect((await open()).map(({ order }) => [order.source?.key, order.repo, order.text, order.labels])).toEqual([
      ['b', '/other', 'b', {}],
      ['a', '/repo', 'do A', { kind: 'bug' }],
    ])
    expect(plane.items.get('c')?.claims).toBe(0)
  })

  test('only items with a wanted label are taken, and no more than there is room for', async () => {
    for (const id of ['a', 'b', 'c']) plane.add({ id, labels: ['agent'] })
    plane.add({ id: 'd' })
    expect((await pass(HEALTHY, { labels: ['agent'], open: 2 })).counts.taken).toBe(2)
    expect((await open()).map(({ order }) => order.source?.key)).toEqual(expect.arrayContaining(['a', 'b']))
  })

  test('an item waits as long as its blocker is open', async () => {
    plane.add({ id: 'a', blocked_by: ['b'] })
    const blocker = plane.add({ id: 'b' })
    await pass()
    expect(await open()).toHaveLength(1)
    const holds = await begin('b')
    await store.requests.recordEnded(holds, { state: 'done', reason: 'commits', summary: 's', by: 'agent' }, now)
    await pass()
    expect(await open()).toHaveLength(0)
    blocker.state = 'closed'
    await pass()
    expect((await open()).map(({ order }) => order.source?.key)).toEqual(['a'])
  })

  verifies('one-owner', 'an item that another worker has claimed is left alone, and an ended one is never taken again', async () => {
    plane.add({ id: 'a', token: 'of-another' })
    plane.add({ id: 'b' })
    await pass()
    expect((await open()).map(({ order }) => order.source?.key)).toEqual(['b'])
    const holds = await begin('b')
    await store.requests.recordEnded(holds, { state: 'blocked', reason: 'no-result', summary: 's', by: 'agent' }, now)
    expect((await pass()).counts.taken).toBe(0)
    expect(plane.items.get('b')?.claims).toBe(1)
  })

  verifies('epoch', 'a claim whose answer was lost is the same claim at the next pass', async () => {
    const item = plane.add({ id: 'a' })
    const before = plane.fault
    plane.fault = (route) => {
      if (route !== 'claim') return null
      // The server has done it, and its answer never arrives.
      item.claims += 1
      item.token = 'token-a-1'
      return 'reset'
    }
    const { health } = await pass()
    expect(health.state).toBe('retrying')
    plane.fault = before
    item.token = undefined as unknown as string
    item.claims = 0
    now += 400_000
    await pass(health)
    expect((await byKey('a')).order.source?.token).toBe('token-a-1')
  })
})

describe('closing', () => {
  verifies('one-end', 'an item that the source closes is closing here, and its end is told once', async () => {
    const item = plane.add({ id: 'a' })
    await pass()
    const holds = await begin('a')
    item.state = 'closed'
    item.reason = 'not-planned'
    expect((await pass()).counts.closed).toBe(1)
    expect((await byKey('a')).closing).toMatchObject({ reason: 'source-closed', summary: 'plane closed a: not-planned' })
    await store.requests.recordEnded(holds, { state: 'cancelled', reason: 'source-closed', summary: 's', by: 'plane' }, now)
    await pass()
    expect((await store.outbox.state('plane')).requests).toBe(0)
  })

  verifies('unknown', 'a failed call, or a run that is not proven alive, closes nothing and says nothing', async () => {
    const item = plane.add({ id: 'a' })
    await pass()
    await begin('a')
    for (const fault of [{ status: 500 }, { status: 404 }, { status: 403 }, 'garbage', 'reset'] satisfies Fault[]) {
      plane.fault = (route) => (route === 'heartbeat' ? fault : null)
      await pass()
      expect((await byKey('a')).closing, JSON.stringify(fault)).toBeNull()
    }
    plane.fault = null
    const beats = item.heartbeats
    held = () => false
    await pass()
    expect(item.heartbeats).toBe(beats)
  })

  test('a token that is stale there ends the request here', async () => {
    const item = plane.add({ id: 'a' })
    await pass()
    item.token = 'of-another'
    await pass()
    expect((await byKey('a')).closing?.reason).toBe('source-closed')
  })
})

describe('feedback and reports', () => {
  test('feedback arrives once, and its receipt goes back', async () => {
    const item = plane.add({ id: 'a', feedback: [{ id: 'f1', author: 'eve', text: 'Add a test.' }] })
    await pass()
    await pass()
    const request = await byKey('a')
    const [one, ...more] = await store.feedback.list(request.id)
    expect([one?.text, one?.by, more]).toEqual(['Add a test.', 'eve (plane)', []])
    const holds = await begin('a')
    await store.feedback.begin(holds, { way: 'pane', run: 'r', epoch: 1, message: null, why: 'typed' }, now)
    await store.feedback.record(one?.id ?? '', 'delivered', null, now)
    await pass()
    expect(item.feedback[0]?.state).toBe('delivered')
  })

  verifies('one-end', 'feedback that never arrived is told as ignored when its request ends', async () => {
    const item = plane.add({ id: 'a', feedback: [{ id: 'f1', author: 'eve', text: 'Add a test.' }] })
    await pass()
    await pass()
    const holds = await begin('a')
    await store.requests.recordEnded(holds, { state: 'blocked', reason: 'timeout', summary: 's', by: 'worker' }, now)
    await pass()
    expect(item.feedback[0]?.state).toBe('ignored')
    expect(states(item)).toEqual(['claimed', 'running', 'blocked'])
  })

  verifies('bounded', 'a source that refuses its credential is asked again slowly, and holds up nothing', async () => {
    plane.add({ id: 'a' })
    plane.fault = () => ({ status: 401 })
    const { health } = await pass()
    expect(health).toMatchObject({ state: 'auth-blocked', failures: 1 })
    const calls = plane.calls.length
    now += 60_000
    expect((await pass(health)).health).toEqual(health)
    expect(plane.calls).toHaveLength(calls)
    plane.fault = null
    now += 600_000
    expect((await pass(health)).health.state).toBe('ok')
  })
})

describe.each([1, 2, 3, 4, 5])('random faults, seed %i', (seed) => {
  verifies('one-end', 'whatever fails, each item is claimed once and every step is told once, in order', async () => {
    let state = seed * 7919
    const dice = (sides: number): number => {
      state = (state * 1103515245 + 12345) % 2147483648
      return Math.floor((state / 2147483648) * sides)
    }
    const faults: readonly Fault[] = [
      'reset',
      'garbage',
      { status: 500 },
      { status: 429, headers: { 'retry-after': '1' } },
      { status: 403 },
      { status: 401 },
    ]
    const items = ['a', 'b', 'c', 'd'].map((id) => plane.add({ id }))
    let failed = 0
    plane.fault = () => {
      const fault = dice(3) === 0 ? faults[dice(faults.length)] : undefined
      failed += fault === undefined ? 0 : 1
      return fault ?? null
    }
    let health: SourceHealth = HEALTHY
    const running = new Map<string, { id: string; token: number }>()
    for (let round = 0; round < 40; round++) {
      now += 3_600_000
      ;({ health } = await pass(health))
      for (const { order, state: at } of await open()) {
        const key = order.source?.key ?? ''
        if (at === 'queued') running.set(key, await begin(key))
        else if (dice(3) === 0)
          await store.requests.recordEnded(
            running.get(key) ?? { id: '', token: 0 },
            { state: 'done', reason: 'commits', summary: 's', by: 'agent' },
            now,
          )
      }
    }
    plane.fault = null
    for (let round = 0; round < 3; round++) {
      now += 3_600_000
      ;({ health } = await pass(health))
    }
    expect(failed).toBeGreaterThan(10)
    expect((await store.outbox.state('plane')).requests).toBe(0)
    for (const item of items) {
      expect(item.claims, item.id).toBe(1)
      expect(states(item), item.id).toEqual(['claimed', 'running', 'done'])
      expect(item.reports.map(({ sequence }) => sequence)).toEqual(item.reports.map(({ sequence }) => sequence).toSorted((a, b) => a - b))
    }
  })
})
