import { expect, test } from 'vitest'
import { type DeliveryFacts, judgeDelivery, wayTo } from '../../src/decide/index.ts'
import type { Receipt } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { feedback, live, over } from './work.ts'

const FACTS: DeliveryFacts = { now: 1000, run: { kind: 'none' }, epoch: 4, starting: false, unread: null }
const judge = (receipt: Partial<Receipt>, facts: Partial<DeliveryFacts>) => {
  const step = judgeDelivery(
    feedback({ receipt: { way: 'run', run: 'r1', epoch: 4, message: null, why: '', ...receipt } }),
    { ...FACTS, ...facts },
    { paneMs: 100 },
  )
  return step.kind === 'record' ? step.event : step.kind
}

verifies('evidence', 'a prompt was delivered if its run began, and only then', () => {
  expect(judge({}, { epoch: 5, run: live() })).toBe('delivered')
  expect(judge({}, { epoch: 5, run: over() })).toBe('delivered')
  expect(judge({}, { epoch: 5, run: over({ state: 'failed', harness: null }) })).toBe('returned')
  expect(judge({}, { epoch: 4 })).toBe('returned')
  expect(judge({}, { epoch: 4, starting: true })).toBe('keep')
})

verifies('evidence', 'a message was delivered when it was read; one that nobody read is taken back', () => {
  expect(judge({ way: 'message' }, { run: live(), unread: true })).toBe('keep')
  expect(judge({ way: 'message' }, { run: live(), unread: false })).toBe('delivered')
  expect(judge({ way: 'message' }, { run: over(), unread: true })).toBe('take-back')
  expect(judge({ way: 'message' }, { run: live('alive', 'r2'), unread: true })).toBe('take-back')
  expect(judge({ way: 'message' }, { run: over(), unread: null })).toBe('keep')
})

verifies('unknown', 'what was typed by one who died over it is neither delivered nor sent again by itself', () => {
  expect(judge({ way: 'pane' }, { run: live(), now: 50 })).toBe('keep')
  expect(judge({ way: 'pane' }, { run: live() })).toBe('lost')
})

test('only an agent that is known to be alive is told while it runs', () => {
  const about = { hosted: true, reads: true, idle: true }
  expect(wayTo(live(), about)).toBe('pane')
  expect(wayTo(live(), { ...about, idle: false })).toBe(null)
  expect(wayTo(live(), { ...about, hosted: false })).toBe('message')
  expect(wayTo(live(), { ...about, hosted: false, reads: false })).toBe(null)
  for (const run of [live('unknown'), over(), { kind: 'none' } as const]) expect(wayTo(run, about)).toBe(null)
})
