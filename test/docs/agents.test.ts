import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { merged, pageOf, type Row, rowsIn } from '../agents/page.ts'

const row = (agent: string, ability: string, more: Partial<Row> = {}): Row => ({ agent, version: '1.0', ability, result: 'works', ...more })

test('docs/reference/agents.md is as npm run test:harness writes it', () => {
  const page = readFileSync('docs/reference/agents.md', 'utf8')
  expect(rowsIn(page).length).toBeGreaterThan(0)
  expect(page).toBe(pageOf(rowsIn(page)))
})

test('what is written is read again', () => {
  const rows = [row('codex', 'a; b: c'), row('codex', 'd', { result: 'fails' })]
  expect(rowsIn(pageOf(rows))).toEqual(rows)
})

test('a run replaces its own rows and leaves others; a whole run of an agent takes away what is no more', () => {
  const before = [row('claude', 'old'), row('claude', 'same', { result: 'fails' }), row('codex', 'other')]
  const seen = [row('claude', 'same', { version: '2.0' })]
  expect(merged(before, seen, new Set())).toEqual([before[0], before[2], seen[0]])
  expect(merged(before, seen, new Set(['claude']))).toEqual([before[2], seen[0]])
})
