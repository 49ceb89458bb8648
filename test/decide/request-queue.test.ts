import { expect, test } from 'vitest'
import { turns } from '../../src/decide/index.ts'
import type { WorkLimits, WorkRequest } from '../../src/model/index.ts'
import { aRequest } from './work.ts'

const LIMITS: WorkLimits = { atOnce: 9, perRepository: 9, perLabel: {} }
const queue = (...more: readonly [Partial<WorkRequest>, Partial<WorkRequest['order']>?][]): WorkRequest[] =>
  more.map(([request, order], at) => aRequest({ id: `w${at}`, state: 'queued', ...request }, order))
const why = (open: readonly WorkRequest[], limits: Partial<WorkLimits> = {}): string[] =>
  [...turns(open, { ...LIMITS, ...limits }, 100)].map(([id, turn]) => `${id} ${turn.kind === 'now' ? 'now' : turn.why}`)

test('as many go as may run at once; those that run count, and those that go', () => {
  expect(why(queue([{ state: 'running' }], [{ state: 'claimed' }], [{}], [{}]), { atOnce: 3 })).toEqual(['w2 now', 'w3 limit'])
  expect(why(queue([{ state: 'waiting' }], [{}]), { atOnce: 1 })).toEqual(['w1 now'])
})

test('one repository does not keep the others back', () => {
  expect(why(queue([{ state: 'running' }], [{}], [{}, { repo: '/other' }]), { perRepository: 1 })).toEqual(['w1 repository-limit', 'w2 now'])
})

test('a label has a limit of its own', () => {
  const gpu = { labels: { needs: 'gpu' } }
  expect(why(queue([{}, gpu], [{}, gpu], [{}]), { perLabel: { 'needs=gpu': 1 } })).toEqual(['w0 now', 'w1 label-limit', 'w2 now'])
})

test('what is tried again later says when', () => {
  const open = queue([{ dueAt: 101, summary: 'the directory is held' }], [{ dueAt: 100 }])
  expect(why(open)).toEqual(['w0 not-due', 'w1 now'])
  expect(turns(open, LIMITS, 100).get('w0')).toMatchObject({ until: 101, what: 'the directory is held' })
})

test('an agent that is over takes no place, although its branch cannot be looked at', () => {
  const trouble = { step: 'look-at-branch', why: 'the repository is gone', times: 9, at: 1 }
  expect(why(queue([{ state: 'running', trouble }], [{}]), { atOnce: 1 })).toEqual(['w1 now'])
  expect(why(queue([{ state: 'running', trouble: { ...trouble, step: 'start' } }], [{}]), { atOnce: 1 })).toEqual(['w1 limit'])
})
