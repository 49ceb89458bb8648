import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CallFailure, Source, SourceReport } from '../../src/model/index.ts'
import { call, httpSource, STANDARD } from '../../src/source/index.ts'
import { type Fault, type Plane, servePlane } from '../fixtures/work-source.ts'
import { verifies } from '../requirements.ts'

let plane: Plane
let source: Source
beforeEach(async () => {
  plane = await servePlane()
  source = sourceWith(async () => plane.token)
})
afterEach(() => plane.close())

const sourceWith = (token: () => Promise<string | null>): Source =>
  httpSource({ name: 'plane', url: plane.url, token, host: 'here', worker: 'w1' }, STANDARD)
const report = (over: Partial<SourceReport> = {}): SourceReport => ({
  item: 'a',
  token: 'token-a-1',
  sequence: 1,
  at: 0,
  state: 'running',
  reason: null,
  summary: null,
  attempt: 1,
  branch: null,
  commit: null,
  pullRequest: null,
  ...over,
})

describe('the protocol', () => {
  test('a list of several pages is read whole', async () => {
    for (const id of ['a', 'b', 'c', 'd', 'e']) plane.add({ id, labels: ['x'] })
    const listed = await source.list()
    expect('ok' in listed && listed.ok.map(({ id, labels, closed }) => [id, labels, closed])).toEqual(
      ['a', 'b', 'c', 'd', 'e'].map((id) => [id, ['x'], null]),
    )
  })

  test('ids of a source cannot leave their place in a path', async () => {
    plane.add({ id: '../x y/?#' })
    expect(await source.look('../x y/?#')).toMatchObject({ ok: { id: '../x y/?#' } })
  })

  verifies('epoch', 'a claim that is repeated with its key is the same claim, and another key has lost', async () => {
    plane.add({ id: 'a' })
    expect(await source.claim('a', 'k1')).toEqual({ ok: { kind: 'won', token: 'token-a-1', leaseMs: 60_000 } })
    expect(await source.claim('a', 'k1')).toEqual({ ok: { kind: 'won', token: 'token-a-1', leaseMs: 60_000 } })
    expect(await source.claim('a', 'k2')).toMatchObject({ ok: { kind: 'lost' } })
    expect(await source.heartbeat('a', 'token-a-1')).toEqual({ ok: { kind: 'held' } })
    expect(await source.heartbeat('a', 'token-a-0')).toMatchObject({ ok: { kind: 'lost' } })
  })

  verifies('final', 'an item that is closed on the other side is an order to end, and is never written over', async () => {
    const item = plane.add({ id: 'a' })
    await source.claim('a', 'k1')
    item.state = 'closed'
    item.reason = 'not-planned'
    expect(await source.heartbeat('a', 'token-a-1')).toEqual({ ok: { kind: 'closed', reason: 'not-planned' } })
    expect(await source.report(report({ state: 'done' }))).toEqual({ ok: 'stale' })
    expect(item.reports).toEqual([])
  })

  test('a report that is repeated is taken once', async () => {
    const item = plane.add({ id: 'a' })
    await source.claim('a', 'k1')
    for (const sequence of [1, 1, 2]) expect(await source.report(report({ sequence }))).toEqual({ ok: 'taken' })
    expect(item.reports.map(({ sequence }) => sequence)).toEqual([1, 2])
  })

  test('feedback is read, and its receipt arrives', async () => {
    const item = plane.add({ id: 'a', feedback: [{ id: 'f1', author: 'eve', text: 'Add a test.' }] })
    expect(await source.feedback('a')).toEqual({ ok: [{ id: 'f1', author: 'eve', text: 'Add a test.', at: null }] })
    expect(await source.receipt({ item: 'a', feedback: 'f1', state: 'delivered', why: null })).toEqual({ ok: 'taken' })
    expect(item.feedback[0]?.state).toBe('delivered')
  })
})

const CALLS: readonly [string, (source: Source) => Promise<object>][] = [
  ['list', (one) => one.list()],
  ['look', (one) => one.look('a')],
  ['claim', (one) => one.claim('a', 'k')],
  ['heartbeat', (one) => one.heartbeat('a', 't')],
  ['feedback', (one) => one.feedback('a')],
  ['report', (one) => one.report(report())],
  ['receipt', (one) => one.receipt({ item: 'a', feedback: 'f', state: 'delivered', why: null })],
]
const FAULTS: readonly [Fault, CallFailure['kind']][] = [
  ['reset', 'unreachable'],
  [{ status: 400 }, 'refused'],
  [{ status: 301, headers: { location: 'http://127.0.0.1:1/' } }, 'refused'],
  [{ status: 401 }, 'unauthorized'],
  [{ status: 403 }, 'forbidden'],
  [{ status: 403, headers: { 'retry-after': '7' } }, 'limited'],
  [{ status: 404 }, 'missing'],
  [{ status: 429, headers: { 'retry-after': '7' } }, 'limited'],
  [{ status: 500 }, 'server'],
  [{ status: 503, body: '{"message":"down"}' }, 'server'],
]

describe.each(CALLS)('%s', (_name, ask) => {
  test.each(FAULTS)('%j is an answer, and never an exception', async (fault, kind) => {
    plane.fault = () => fault
    expect(await ask(source)).toMatchObject({ failed: { kind } })
  })
})

describe('faults of an answer', () => {
  test('garbage is told as such where an answer is read', async () => {
    plane.fault = () => 'garbage'
    for (const [name, ask] of CALLS.slice(0, 5)) expect(await ask(source), name).toMatchObject({ failed: { kind: 'garbage' } })
  })

  test('a list with an item that makes no sense is garbage as a whole', async () => {
    plane.add({ id: 'a' })
    plane.fault = (route) => (route === 'list' ? { status: 200, body: JSON.stringify({ requests: [{ id: 'a', state: 'maybe' }] }) } : null)
    expect(await source.list()).toMatchObject({ failed: { kind: 'garbage' } })
  })

  test('a lost race is no failure of the source, and a claim of a closed item is told', async () => {
    plane.fault = () => ({ status: 409 })
    expect(await source.claim('a', 'k')).toMatchObject({ ok: { kind: 'lost' } })
    plane.fault = () => ({ status: 410 })
    expect(await source.claim('a', 'k')).toMatchObject({ failed: { kind: 'gone' } })
  })

  verifies('bounded', 'an answer that never comes, never ends, or is too long is given up', async () => {
    const bounds = { ms: 150, bytes: 200_000 }
    const ask = () => call({ url: `${plane.url}/requests`, method: 'GET', headers: {} }, bounds)
    plane.fault = () => 'silence'
    expect(await ask()).toMatchObject({ failed: { kind: 'timeout' } })
    plane.fault = () => 'endless'
    const answer = await ask()
    expect('failed' in answer && ['too-long', 'timeout']).toContain('failed' in answer ? answer.failed.kind : '')
  })

  test.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': 'soon' }, null],
    [{}, null],
  ])('the pause that headers %j ask for', async (headers, ms) => {
    plane.fault = () => ({ status: 429, headers: headers as Record<string, string> })
    expect(await source.list()).toMatchObject({ failed: { retryAfterMs: ms } })
  })

  verifies('private', 'no sentence has the token or the query of a call', async () => {
    plane.fault = () => ({ status: 500, body: '{"message":"no"}' })
    const answer = await call({ url: `${plane.url}/requests?key=hush`, method: 'GET', headers: { authorization: 'Bearer hush' } })
    expect(JSON.stringify(answer)).not.toContain('hush')
  })

  test('a secret that cannot be read is a refused credential', async () => {
    const broken = sourceWith(() => Promise.reject(new Error('the file of the token is missing')))
    expect(await broken.list()).toEqual({
      failed: { kind: 'unauthorized', status: null, retryAfterMs: null, why: 'the file of the token is missing' },
    })
    expect(plane.calls).toEqual([])
  })
})
