import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bytesOf, textOf } from '../../src/model/index.ts'

test('text stays text, and any bytes come back as they were', () => {
  expect(textOf(Uint8Array.from([0xc3, 0xbc]))).toBe('ü')
  expect(textOf(Uint8Array.from([0x61, 0xff]))).toBe('a\uDCFF')
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(bytesOf(textOf(bytes))).toEqual(bytes)
    }),
  )
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(textOf(bytesOf(text))).toBe(text)
    }),
  )
  // Also in the middle of other text, with pairs of surrogates beside it.
  expect(bytesOf(`💀${textOf(Uint8Array.from([0x80, 0x41]))}ü`)).toEqual(Uint8Array.from([0xf0, 0x9f, 0x92, 0x80, 0x80, 0x41, 0xc3, 0xbc]))
})
