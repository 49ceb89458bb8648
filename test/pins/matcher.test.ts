import { describe, expect, test } from 'vitest'
import { differences, each, either } from './matcher.ts'

/** A pin that cannot fail pins nothing. */
describe('a pin fails on', () => {
  const cases: readonly [what: string, value: unknown, example: unknown, told: string][] = [
    ['a new key', { a: 1, b: 2 }, { a: 1 }, '$.b: the contract grew: add it here (2)'],
    ['a new key deep inside', { a: [{ b: 1, c: null }] }, { a: [{ b: 1 }] }, '$.a[0].c: the contract grew: add it here (null)'],
    ['a missing key', { a: 1 }, { a: 1, b: null }, '$.b: the contract lost a key that programs read'],
    ['another value', { a: 1 }, { a: 2 }, '$.a: the contract changed: 1 is not like 2'],
    ['null for an object', { a: null }, { a: {} }, '$.a: the contract changed: null is not like {}'],
    ['a list for an object', [], {}, '$: the contract changed: [] is not like {}'],
    ['a longer list', [1, 2], [1], '$: the contract changed: [1,2] is not like [1]'],
    ['a number for a text', 12, '12', '$: the contract changed: 12 is not like "12"'],
    ['a pid that is a text', '12', '<pid>', '$: the contract changed: "12" is not like "<pid>"'],
    ['an empty text', '', '<text>', '$: the contract changed: "" is not like "<text>"'],
    ['a time in another form', 0, '<iso>', '$: the contract changed: 0 is not like "<iso>"'],
    ['a pattern within a text', 'pid x.', 'pid <pid>.', '$: the contract changed: "pid x." is not like "pid <pid>."'],
    ['one wrong entry of many', [1, '2'], each('<count>'), '$[1]: the contract changed: "2" is not like "<count>"'],
    ['an empty list where there must be entries', [], each('<count>'), '$: the contract changed: [] is not like ["<count>"]'],
    ['a value that is like no example', { a: 1 }, either({ a: 2, b: 1 }, { a: 3 }), '$.a: the contract changed: 1 is not like 3'],
  ]
  test.each(cases)('%s', (_what, value, example, told) => expect(differences(value, example)).toEqual([told]))
  test('a pattern that does not exist', () => expect(() => differences('x', '<nothing>')).toThrow('there is no pattern <nothing>'))
})

test('a value that is like its example passes', () => {
  const value = { at: '2026-01-02T10:57:55.000Z', pid: 12, why: 'pid 12 (r000000000001)', list: [1, 2], who: null, extra: { b: 1 } }
  const example = { at: '<iso>', pid: '<pid>', why: 'pid <pid> (<run>)', list: each('<count>'), who: null, extra: either({ a: 1 }, { b: 1 }) }
  expect(differences(value, example)).toEqual([])
})
