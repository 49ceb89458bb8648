import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Run } from '../../src/model/index.ts'
import { holderLine, painter, plain, sessionsText, statusText, stoppedText, treeText } from '../../src/show/index.ts'
import { ended, intent, member, NOW, row, running, session, stopping } from '../decide/build.ts'

const bare = painter(false)
const CONTROL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u
const EVIL = '\u001B]0;owned\u0007\u001B[2J\r\n'

describe('painter', () => {
  test('paints for a terminal', () => expect(painter(true).red('no')).toBe('\u001B[31mno\u001B[0m'))
  test('paints nothing that is not there', () => expect(painter(true).red('')).toBe(''))
  test('leaves text alone for a file', () => {
    for (const paint of Object.values(bare)) expect(paint('text')).toBe('text')
  })
})

describe('plain', () => {
  const cases: readonly [what: string, text: string, shown: string][] = [
    ['ordinary text', 'fix: the bug — größer 漢字 🙂', 'fix: the bug — größer 漢字 🙂'],
    ['an escape sequence', '\u001B[2Jgone', '·[2Jgone'],
    ['a window title', '\u001B]0;owned\u0007', '·]0;owned·'],
    ['new lines and tabs', 'a\nb\r\tc', 'a·b··c'],
    ['delete and the eight-bit controls', '\u007F\u009B2J\u0085', '··2J·'],
    ['nul', 'a\0b', 'a·b'],
    ['the neighbours of the ranges', '\u0020~\u00A0', '\u0020~\u00A0'],
  ]
  test.each(cases)('%s', (_what, text, shown) => expect(plain(text)).toBe(shown))

  test('nothing that steers a terminal is left, and the rest is as it was', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('\u001B', '\u009B', '\n', 'a', '[') }))
    fc.assert(
      fc.property(text, (written) => {
        expect(plain(written)).not.toMatch(CONTROL)
        expect(plain(written).length).toBe(written.length)
        expect(plain(plain(written))).toBe(plain(written))
        if (!CONTROL.test(written)) expect(plain(written)).toBe(written)
      }),
    )
  })
})

describe('what others wrote does not steer the terminal', () => {
  const sight = (run: Run, note: string | null = null) => ({ session: session(), run, liveness: 'alive' as const, pid: 200, note, tasks: [] })
  const evil = { argv: ['claude', EVIL], dir: `/tmp/${EVIL}` }
  const runs: readonly [what: string, run: Run][] = [
    ['the command and directory of a live run', running(evil)],
    ['the reason of an end', ended({ ...evil, reason: EVIL, by: EVIL, evidence: [EVIL] })],
    [
      'an intent and the names of survivors',
      stopping({ ...evil, intent: { ...intent, by: EVIL, reason: EVIL }, survivors: [{ pid: 9, name: EVIL, why: 'it did not end' }] }),
    ],
  ]
  test.each(runs)('%s', (_what, run) => {
    for (const line of [...sessionsText([sight(run)], NOW, bare), ...statusText(sight(run), { now: NOW, paint: bare, whole: true })])
      expect(line).not.toMatch(CONTROL)
  })
  test('a note, in a list', () => expect(sessionsText([sight(running(), EVIL)], NOW, bare).join('')).not.toMatch(CONTROL))
  test('the names of processes', () => {
    const lines = treeText(
      {
        members: [member(200, { name: EVIL })],
        suspects: [{ row: row(300, { name: EVIL }), pro: [EVIL], contra: [EVIL] }],
        spared: [{ row: row(400, { name: EVIL }), why: EVIL }],
      },
      bare,
    )
    for (const line of lines) expect(line).not.toMatch(CONTROL)
  })

  // A note or a why can hold the name of a process that could not be read, which is whatever that process calls itself.
  test('a note, in a status', () => expect(statusText(sight(running(), EVIL), { now: NOW, paint: bare }).join('')).not.toMatch(CONTROL))
  test('why an end cannot be proven', () => {
    expect(stoppedText('s1', { kind: 'unknown', run: running(), why: EVIL }).join('')).not.toMatch(CONTROL)
  })
  test('the directory of a holder', () => expect(holderLine({ ...running(evil), pid: 200 }, NOW)).not.toMatch(CONTROL))
})
