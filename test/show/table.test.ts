import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { painter } from '../../src/show/index.ts'
import { shorten, table } from '../../src/show/table.ts'

const cells = (...texts: readonly string[]) => texts.map((text) => ({ text }))

describe('table', () => {
  test('columns are as wide as their widest cell, and nothing trails', () => {
    expect(table([cells('PID', 'NAME', 'WHY'), cells('7', 'a long name', ''), cells('12345', 'x', 'because')])).toEqual([
      'PID    NAME         WHY',
      '7      a long name',
      '12345  x            because',
    ])
  })
  test('no rows, no lines', () => expect(table([])).toEqual([]))
  test('rows may be short', () => expect(table([cells('a'), cells('bbb', 'c')])).toEqual(['a', 'bbb  c']))

  test('every column begins at the same place in every row', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(fc.array(fc.tuple(word, word, word), { minLength: 1, maxLength: 6 }), (rows) => {
        const lines = table(rows.map((row) => cells(...row)))
        const starts = lines.map((line) => [...line.matchAll(/[abc]+/g)].map((match) => match.index))
        expect(new Set(starts.map(String)).size).toBe(1)
        expect(lines.map((line) => line.split(/ +/))).toEqual(rows)
      }),
    )
  })

  test('colours cost no width', () => {
    const rows = (colours: boolean) => {
      const paint = painter(colours)
      return table([
        [
          { text: 'STATE', paint: paint.dim },
          { text: 'PID', paint: paint.dim },
        ],
        [{ text: 'running', paint: paint.green }, { text: '7' }],
      ])
    }
    expect(rows(true).join('\n')).not.toBe(rows(false).join('\n'))
    expect(rows(true).map((line) => line.replaceAll(/\p{Cc}\[\d+m/gu, '').trimEnd())).toEqual(rows(false))
  })
})

describe('shorten', () => {
  const cases: readonly [text: string, width: number, short: string][] = [
    ['', 10, ''],
    ['/home/ann', 9, '/home/ann'],
    ['/home/ann', 8, '/h…e/ann'],
    ['/home/ann/projects/holdfast', 13, '/hom…holdfast'],
  ]
  test.each(cases)('%j in %i is %j', (text, width, short) => expect(shorten(text, width)).toBe(short))

  test('is never wider than asked, and keeps both ends', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.integer({ min: 4, max: 60 }), (text, width) => {
        const short = shorten(text, width)
        expect(short.length).toBe(Math.min(text.length, width))
        expect([short.at(0), short.at(-1)]).toEqual([text.at(0), text.at(-1)])
      }),
    )
  })
})
