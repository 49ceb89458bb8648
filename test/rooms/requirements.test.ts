import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { requirements } from '../requirements.ts'

const cited = new Set(
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .flatMap((path) => [...readFileSync(join('test', path), 'utf8').matchAll(/\bverifies\(\s*'([a-z-]+)'/g)].map((match) => match[1] ?? '')),
)

test('every promise that is due has a test that cites it', () => {
  const missing = Object.entries(requirements).filter(([id, { due }]) => due && !cited.has(id))
  expect(missing.map(([id]) => id)).toEqual([])
})

test('tests cite only promises that exist', () => {
  expect([...cited].filter((id) => !(id in requirements))).toEqual([])
})

test('a promise that is not due says what it waits for', () => {
  for (const [id, requirement] of Object.entries(requirements))
    if (!requirement.due) expect('later' in requirement && requirement.later, id).toBeTruthy()
})
