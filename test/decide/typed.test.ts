import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shows, typable } from '../../src/decide/index.ts'
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
  test('a screen shows a text also where it is wrapped or framed', () => {
    expect(shows('│ > please fix the te │\n│ sts in src           │', 'please fix the tests in src\nand more')).toBe(true)
    expect(shows('│ > [Pasted text] │', 'please fix the tests')).toBe(false)
    expect(shows('anything', '!!')).toBe(false)
  })
})
