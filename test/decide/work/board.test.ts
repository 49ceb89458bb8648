import { expect, test } from 'vitest'
import { byColumn, columnOf } from '../../../src/decide/index.ts'
import { aRequest } from '../work.ts'

test('each state has its column, and what waits for a person needs one', () => {
  const column = (more: Parameters<typeof aRequest>[0], followed = false) => columnOf(aRequest(more), followed)
  expect(column({ state: 'queued' })).toBe('queued')
  expect([column({ state: 'claimed' }), column({ state: 'running' })]).toEqual(['running', 'running'])
  expect(column({ state: 'blocked' })).toBe('needs-you')
  expect(column({ state: 'blocked' }, true)).toBe('cancelled')
  expect([column({ state: 'done' }), column({ state: 'cancelled' })]).toEqual(['done', 'cancelled'])
  expect(column({ state: 'waiting', cause: 'review' })).toBe('needs-you')
  expect(column({ state: 'waiting', cause: 'review', pending: 1 })).toBe('waiting')
  for (const cause of ['limit', 'dependency', 'publish'] as const) expect(column({ state: 'waiting', cause })).toBe('waiting')
})

test('open ones stay in their order, and the newest end comes first', () => {
  const entry = (id: string, column: 'needs-you' | 'queued' | 'done', endedAt: number | null) => ({ column, request: { id, endedAt } })
  const entries = [entry('a', 'queued', null), entry('b', 'done', 5), entry('c', 'queued', null), entry('d', 'done', 9), entry('e', 'needs-you', 1)]
  expect(byColumn(entries).map(({ request }) => request.id)).toEqual(['e', 'a', 'c', 'd', 'b'])
})
