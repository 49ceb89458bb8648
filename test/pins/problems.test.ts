import { expect, test } from 'vitest'
import { exitCode, PROBLEM_GROUPS, PROBLEMS, type ProblemTable } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { sources } from '../rooms/sources.ts'
import { PINNED_PROBLEMS } from './problems.ts'

const table: ProblemTable = PROBLEMS

verifies('visible', 'no problem id disappears or changes its exit code, and a new id is pinned too', () => {
  const pinned = Object.entries(PINNED_PROBLEMS).flatMap(([code, ids]) => ids.map((id) => [id, Number(code)]))
  const present = Object.entries(table).map(([id, { kind }]) => [id, exitCode[kind]])
  expect(Object.fromEntries(present)).toEqual(Object.fromEntries(pinned))
  expect(pinned.length).toBe(present.length)
})

test('every problem is in exactly one group', () => {
  const grouped = Object.values(PROBLEM_GROUPS).flatMap((group) => Object.keys(group))
  expect(grouped.sort()).toEqual(Object.keys(table).sort())
})

test('an id is kebab-case, and its meaning is one plain sentence', () => {
  for (const [id, { means }] of Object.entries(table)) {
    expect(id).toMatch(/^[a-z]+(-[a-z]+)+$/)
    expect(means, id).toMatch(/^[A-Z`][^|]*\.$/)
    expect(means, id).not.toMatch(/\. |^(What|Who|Whoever|Nobody|Somebody|One|That)\b/)
    expect(means.split(' ').length, id).toBeLessThanOrEqual(25)
  }
})

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*$/gm
const COMPARISON = /[!=]== '[^']*'/g
/** Checks of the preflight have names of their own. */
const CHECK_NAME = /\b(?:name|again): '[^']*'/g

test('every id is thrown somewhere', () => {
  const throwing = sources()
    .filter(({ path, text }) => !path.startsWith('model/') && /\bProblem\b/.test(text))
    .map(({ text }) => text.replaceAll(COMMENT, '').replaceAll(COMPARISON, '').replaceAll(CHECK_NAME, ''))
    .join('\n')
  expect(Object.keys(table).filter((id) => !throwing.includes(`'${id}'`))).toEqual([])
})
