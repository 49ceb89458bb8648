import { describe, expect, test } from 'vitest'
import { METRICS_TYPE, metricsText } from '../../src/show/index.ts'
import { parseExposition } from './exposition.ts'
import { serving, WELL } from './serve.ts'

const PARTS = [
  { name: 'reconcile', lastSuccess: 1_700_000_001_500, failures: 0, lastError: null, nextTry: 1_700_000_006_500, counts: { runs: 3, changes: 0 } },
  { name: 'odd "part"\\\n', lastSuccess: null, failures: 4, lastError: 'no', nextTry: null, counts: {} },
]

test('what /metrics says is the published format, and is all there', async () => {
  let asked = 0
  const here = await serving(() => ({
    health: () => ({ ...WELL, healthy: false, why: 'odd', parts: PARTS }),
    sessions: async () => {
      asked++
      return [
        { state: 'running', harness: 'claude', count: 2 },
        { state: 'stopping', harness: null, count: 1 },
      ]
    },
  }))
  try {
    await here.ask({ path: '/nothing' })
    await here.ask({ path: '/mcp', headers: { authorization: null } })
    expect((await here.ask({ path: '/metrics' })).headers['content-type']).toBe(METRICS_TYPE)
    const { text } = await here.ask({ path: '/metrics' })
    const found = parseExposition(text)
    const values = (name: string): unknown => found.get(name)?.readings.map(({ labels, value }) => [...Object.values(labels), value])
    expect(values('holdfast_up')).toEqual([[1]])
    expect(values('holdfast_healthy')).toEqual([[0]])
    expect(values('holdfast_build_info')).toEqual([['1.2.3', '1', 1]])
    expect(values('holdfast_part_last_success_timestamp_seconds')).toEqual([['reconcile', 1_700_000_001.5]])
    expect(values('holdfast_part_failures')).toEqual([
      ['reconcile', 0],
      ['odd "part"\\\n', 4],
    ])
    expect(values('holdfast_part_next_try_timestamp_seconds')).toEqual([['reconcile', 1_700_000_006.5]])
    expect(values('holdfast_part_count')).toEqual([
      ['reconcile', 'runs', 3],
      ['reconcile', 'changes', 0],
    ])
    expect(values('holdfast_sessions')).toEqual([
      ['running', 'claude', 2],
      ['stopping', '', 1],
    ])
    expect(values('holdfast_sessions_readable')).toEqual([[1]])
    expect(values('holdfast_http_requests_total')).toEqual([
      ['other', '404', 1],
      ['/mcp', '401', 1],
      ['/metrics', '200', 1],
    ])
    expect(found.get('process_cpu_seconds_total')?.type).toBe('counter')
    expect(found.get('process_resident_memory_bytes')?.readings[0]?.value).toBeGreaterThan(10_000_000)
    expect(found.get('process_start_time_seconds')?.readings[0]?.value).toBe(1_700_000_000)
    // Asked once for all within a few seconds.
    expect(asked).toBe(1)
  } finally {
    await here.close()
  }
})

test('no session at all is a number', async () => {
  const here = await serving(() => ({ sessions: async () => [] }))
  try {
    const found = parseExposition((await here.ask({ path: '/metrics' })).text)
    expect(found.get('holdfast_sessions')?.readings).toEqual([{ labels: { state: 'running', harness: '' }, value: 0 }])
  } finally {
    await here.close()
  }
})

test('a store that cannot be asked is told, and hides nothing else', async () => {
  const here = await serving(() => ({ sessions: () => Promise.reject(new Error('no store')) }))
  try {
    const answer = await here.ask({ path: '/metrics' })
    expect(answer.status).toBe(200)
    const found = parseExposition(answer.text)
    expect(found.get('holdfast_sessions_readable')?.readings).toEqual([{ labels: {}, value: 0 }])
    expect(found.has('holdfast_sessions')).toBe(false)
    expect(found.get('holdfast_up')?.readings[0]?.value).toBe(1)
  } finally {
    await here.close()
  }
})

describe('the text', () => {
  test('escapes labels and help, and writes numbers that are none', () => {
    const readings = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e21, 0.1].map((value, at) => ({
      labels: { at: String(at), text: 'a"b\\c\nd' },
      value,
    }))
    const text = metricsText([{ name: 'a_b', type: 'gauge', help: 'one\\two\n"three"', readings }])
    expect(parseExposition(text).get('a_b')).toEqual({ type: 'gauge', help: 'one\\two\n"three"', readings })
  })

  test('is seen through where it is wrong', () => {
    for (const wrong of [
      'a 1',
      '# TYPE a gauge\n# TYPE a gauge\na 1\n',
      '# TYPE a gauge\na{b="c\\d"} 1\n',
      '# TYPE a gauge\na{b="c} 1\n',
      '# TYPE a gauge\na 1\na 2\n',
      '# TYPE a gauge\na x\n',
      'b 1\n',
    ])
      expect(() => parseExposition(wrong), wrong).toThrow()
  })
})
