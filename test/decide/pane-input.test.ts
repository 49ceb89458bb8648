import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isTelling, standsOn, typable, unspaced } from '../../src/decide/index.ts'
import { verifies } from '../requirements.ts'

describe('what can be typed into a pane', () => {
  test('lines stay one block; the end of the last one is not typed', () => {
    expect(typable('one\r\ntwo\rthree\n\tfour\n\n', 100)).toEqual({ kind: 'text', text: 'one\ntwo\nthree\n\tfour' })
    expect(typable('ü', 2)).toEqual({ kind: 'text', text: 'ü' })
  })
  test('what is refused is named', () => {
    for (const [text, why] of [
      ['', 'nothing in it'],
      [' \n\t', 'nothing in it'],
      ['a\u001B[201~', 'U+001B, at 2'],
      ['\u009B201~', 'U+009B, at 1'],
      ['a\u0000', 'U+0000'],
      ['\uDC80', 'U+DC80'],
      ['üü', 'has 4 bytes'],
    ] as const)
      expect(typable(text, 3 + text.length * (text === 'üü' ? 0 : 9)), JSON.stringify(text)).toEqual({
        kind: 'refused',
        why: expect.stringContaining(why),
      })
  })
  verifies('private', 'nothing that is typed holds a control character but a line break or a tab', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const answer = typable(text, 1_000_000)
        if (answer.kind === 'text')
          expect([...answer.text].every((char) => char === '\n' || char === '\t' || !/\p{Cc}|\p{Cs}/u.test(char))).toBe(true)
      }),
    )
  })
  test('a screen shows a text also where it is wrapped or framed, and only what it did not show before', () => {
    const framed = '│ > please fix the te │\n│ sts in src           │'
    expect(standsOn(framed, '', 'please fix the tests in src\nand more')).toBe(true)
    expect(standsOn(framed, framed, 'please fix the tests in src')).toBe(false)
    expect(standsOn(`${framed}\n${framed}`, framed, 'please fix the tests in src')).toBe(true)
    // Of a long one the beginning may have left at the top.
    expect(standsOn('7 8 9 the end of it', '1 2 3', 'the beginning\nof a long one\nthe end of it')).toBe(true)
    expect(standsOn('count 17', 'count 16', 'please fix the tests')).toBe(false)
    expect(standsOn('> !!', '> ', '!!')).toBe(true)
    expect(standsOn('> ', '> ', '!!')).toBe(false)
  })
  test('a letter or two tell nothing', () => expect(['1', 'ok', '!!!', 'yes'].map(isTelling)).toEqual([false, false, false, true]))
  test('some interfaces show something else in the place of a long text', () => {
    const shown = '│ > [Pasted text #1 +3 lines] │'
    expect(standsOn(shown, '', 'one\ntwo\nthree')).toBe(true)
    expect(standsOn(shown, shown, 'one\ntwo\nthree')).toBe(false)
    expect(standsOn('[Pasted Content 1200 chars]', '', 'x y '.repeat(300))).toBe(true)
    expect(standsOn(shown, '', 'please fix the tests')).toBe(false)
  })
  test('a prompt is the same however its lines are broken', () => expect(unspaced('a b\r\n\tc ')).toBe(unspaced('ab\nc')))
})
