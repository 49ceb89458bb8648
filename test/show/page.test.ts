import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tilde, wrapped } from '../../src/show/index.ts'

describe('the home folder is called ~', () => {
  const cases: readonly [text: string, told: string][] = [
    ['/home/ann/src', '~/src'],
    ['/home/ann', '~'],
    ['in /home/ann/a, and "/home/ann/b"', 'in ~/a, and "~/b"'],
    ['/home/anna/src', '/home/anna/src'],
    ['/srv/home/ann/src', '/srv/home/ann/src'],
    ['--dir=/home/ann/src', '--dir=~/src'],
    ['nothing', 'nothing'],
  ]
  test.each(cases)('%s', (text, told) => expect(tilde(text, { home: '/home/ann' })).toBe(told))
  test('without a home, or with one that is everywhere, nothing changes', () => {
    for (const home of [null, '', '/']) expect(tilde('/home/ann', { home })).toBe('/home/ann')
  })
})

describe('wrapping', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 12 })
  test('no word is broken or lost, and no line is too long unless a word is', () =>
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 30 }), fc.integer({ min: 20, max: 60 }), (words, columns) => {
        const lines = wrapped(words.join(' '), columns, 4)
        expect(lines.join(' ').split(/ +/)).toEqual(words)
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
      }),
    ))
  test('without a width a text is a line', () => expect(wrapped('a '.repeat(500), null)).toHaveLength(1))
})
