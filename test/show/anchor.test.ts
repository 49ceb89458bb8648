import { expect, test } from 'vitest'
import type { Anchor, AnchorVerdict } from '../../src/model/index.ts'
import { anchorFindings, anchorsFixedText, type JudgedAnchor, litterText, reapedText } from '../../src/show/index.ts'

const judged = (kind: AnchorVerdict['kind'], harness = 'claude', over: Partial<Anchor> = {}): JudgedAnchor => ({
  anchor: {
    harness,
    nativeId: 'abc',
    path: '/h/12.json',
    files: [{ path: '/h/12.json', stamp: '1' }],
    says: { kind: 'process', pid: 12, ticks: 1, bootId: null, machine: null, pidNamespace: null, flock: 'none' },
    ...over,
  },
  verdict: { kind, why: `because ${kind}` },
})
const lines = (...of: readonly JudgedAnchor[]): string[] => anchorFindings(of, [], 2).map(({ level, what, next }) => `${level} ${what} > ${next}`)

test('those of the living are one line, whatever their number', () => {
  expect(lines(judged('alive'))).toEqual(['fine 1 anchor is of living agents (1 claude) > null'])
  expect(lines(judged('alive'), judged('alive', 'qwen'), judged('alive'), judged('free', 'codex'))).toEqual([
    'fine 3 anchors are of living agents (2 claude, 1 qwen); 1 lock file that nobody holds, as codex leaves them > null',
  ])
  expect(lines()).toEqual([])
})

test('of the others each is named with its reason and what can be done, up to a bound; none makes a trouble', () => {
  expect(lines(judged('dead'), judged('dead'), judged('dead'), judged('dead'))).toEqual([
    'note /h/12.json (pid 12, claude session abc): because dead > holdfast doctor --fix removes it',
    'note /h/12.json (pid 12, claude session abc): because dead > holdfast doctor --fix removes it',
    'note and 2 more that dead processes left > null',
  ])
  expect(lines(judged('unknown'), judged('dead', 'cline', { files: [] }))).toEqual([
    'note /h/12.json (pid 12, cline session abc): because dead > it stays: it is the session itself, which its harness sees to',
    'note /h/12.json (pid 12, claude session abc): because unknown > it stays; look from where it was written',
  ])
  expect(lines(judged('malformed', 'claude', { nativeId: null, says: { kind: 'malformed', why: '' } }))).toEqual([
    'note /h/12.json (claude): because malformed > nobody is looked for because of it, and it stays; look at it yourself',
  ])
  expect(anchorFindings([], ['copilot'], 2)).toMatchObject([{ level: 'note', what: 'there are more of copilot than were looked at' }])
})

test('what a fix did is counted, and what stayed with why', () => {
  expect(anchorsFixedText([], 0)).toEqual([])
  expect(anchorsFixedText(['dead', 'dead'], 2)).toEqual(['anchors of agents: 2 removed'])
  expect(anchorsFixedText(['alive', 'dead', 'dead', 'unknown', 'malformed', 'alive'], 1)).toEqual([
    'anchors of agents: 1 removed; stayed: 2 alive, 1 dead, 1 unknown, 1 malformed',
  ])
})

test('a start says what it removed, and nothing if that is nothing', () => {
  expect(reapedText([], 2)).toEqual([])
  expect(reapedText([{ what: 'a' }], 2)).toEqual(['removed 1 thing that dead processes left: a'])
  expect(reapedText([{ what: 'a' }, { what: 'b\u001b[31m' }, { what: 'c' }], 2)[0]).toMatch(
    /^removed 3 things that dead processes left: a; b.*; and 1 more$/,
  )
  expect(reapedText([{ what: 'b\u001b[31m' }], 2)[0]).not.toContain('\u001b')
  expect(litterText([], false)).toEqual(['nothing to remove'])
})
