import { describe, expect, test } from 'vitest'
import { holdBack } from '../../../src/decide/index.ts'
import type { WorkRequest } from '../../../src/model/index.ts'
import { aRequest } from '../work.ts'

const MINUTE = 60_000
const queued = aRequest({ id: 'wq', state: 'queued', attempt: 0, endedAt: null, dueAt: null })
const other = (more: Partial<WorkRequest>, harness = queued.order.harness): WorkRequest => aRequest({ ...more, order: { ...queued.order, harness } })
const failed = (at: number): WorkRequest => other({ id: `w${at}`, state: 'blocked', reason: 'agent-failed', endedAt: at })
const five = [1, 2, 3, 4, 5].map((minute) => failed(minute * MINUTE))
const facts = (more: Partial<Parameters<typeof holdBack>[0]>) =>
  holdBack({ request: queued, open: [queued], ended: [], atOnce: null, now: 6 * MINUTE, ...more })

describe('a queued request is kept back', () => {
  test('by nothing, as a rule', () => expect(facts({})).toBeNull())
  test('by the limit of its own repository', () => {
    const running = other({ id: 'wr', state: 'running', endedAt: null })
    expect(facts({ open: [queued, running], atOnce: 1 })?.why).toMatch(/^1 of 1 requests run that WORKFLOW\.md of .* allows at once$/)
    expect(facts({ open: [queued, running], atOnce: 2 })).toBeNull()
  })
  test('by the usage limit of its agent until that has passed, and not by that of another agent', () => {
    const limited = { id: 'wl', state: 'waiting', cause: 'limit', endedAt: null, dueAt: 9 * MINUTE } as const
    expect(facts({ open: [queued, other(limited)] })).toEqual({ why: `${queued.order.harness} came to its usage limit with wl`, until: 9 * MINUTE })
    expect(facts({ open: [queued, other(limited)], now: 9 * MINUTE })).toBeNull()
    expect(facts({ open: [queued, other(limited, 'another')] })).toBeNull()
    expect(facts({ open: [queued, other({ ...limited, dueAt: null })] })).toBeNull()
    // It waited for the limit itself, until its own time.
    expect(facts({ request: { ...queued, attempt: 1 }, open: [other(limited)] })).toBeNull()
  })
  test('by five failures of one kind in its repository, until a trial is due', () => {
    expect(facts({ ended: five })?.until).toBe(20 * MINUTE)
    expect(facts({ ended: five, now: 20 * MINUTE })).toBeNull()
    expect(facts({ ended: five.slice(1) })).toBeNull()
    expect(facts({ ended: [...five, other({ id: 'wd', state: 'done', reason: 'commits', endedAt: 6 * MINUTE })] })).toBeNull()
  })
  test('by no failures where a person asked for one more try', () => {
    const asked = aRequest({ ...queued, order: { ...queued.order, from: { request: 'w1', how: 'rerun' } } })
    expect(facts({ request: asked, open: [asked], ended: five })).toBeNull()
  })
})
