import { describe, expect, test } from 'vitest'
import type { Self } from '../../src/model/index.ts'
import { painter, type SiblingView, siblingJson, siblingsText, whoJson, whoText } from '../../src/show/index.ts'
import { NOW, row, running, session } from '../decide/build.ts'
import { verifies } from '../requirements.ts'

const paint = painter(false)
const sibling = (id: string, over: Partial<Omit<SiblingView, 'sight'>> & { readonly sight?: Partial<SiblingView['sight']> } = {}): SiblingView => {
  const { sight = {}, ...more } = over
  return {
    sight: { session: session({ id }), run: running({ session: id }), liveness: 'alive', pid: 42, note: null, tasks: [], ...sight },
    relation: null,
    branch: 'main',
    said: null,
    locks: [],
    ports: [],
    ...more,
  }
}
const text = (siblings: readonly SiblingView[], over: { self?: string | null; here?: boolean; most?: number } = {}): string[] =>
  siblingsText({ self: over.self === undefined ? 'me' : over.self, here: over.here ?? false, siblings }, over.most ?? 50, NOW, paint)

describe('siblings', () => {
  test('a line each, with its own words below', () => {
    const said = { plan: { text: 'move\nthe parser', at: NOW - 60_000 }, result: { text: 'done', at: NOW - 1000 } }
    expect(
      text([
        sibling('a', { said, locks: ['/x', '/y'], ports: [80, 3000], relation: 'child' }),
        sibling('b', { branch: null, ports: null, relation: 'parent', sight: { liveness: 'unknown', pid: null, note: 'on another machine' } }),
      ]),
    ).toEqual([
      'SESSION  STATE     PID  AGE    PORTS    BRANCH  DIRECTORY',
      'a        running   42   1h02m  80,3000  main    /home/ann/project',
      '  it was started in me',
      '  plan (1m ago): move·the parser',
      '  result (1s ago): done',
      '  it also holds /x, /y',
      'b        running?  -    1h02m  ?        -       /home/ann/project',
      '  me was started in it',
      '  on another machine',
    ])
  })
  test('of many so many, and the count; of none, and outside of any session, that is said', () => {
    const many = Array.from({ length: 120 }, (_, index) => sibling(`s${index}`))
    expect(text(many)).toHaveLength(52)
    expect(text(many).at(-1)).toBe('50 of 120')
    expect(text(many, { most: 200 })).toHaveLength(121)
    expect(text([])).toEqual(['no siblings'])
    expect(text([], { self: null })).toEqual(['you are in no session; these are all live ones', 'no sessions'])
    expect(text([sibling('a')], { self: null, here: true })[0]).toBe(
      'you are in no session; these are all live ones in this repository or directory tree',
    )
  })
  verifies('bounded', 'what others say is cut, and steers no terminal', () => {
    const said = { plan: { text: `\u001B[2J${'x'.repeat(5000)}`, at: NOW }, result: null }
    const long = sibling('a', {
      said,
      branch: 'b'.repeat(500),
      locks: Array.from({ length: 200 }, (_, index) => `/d${index}`),
      ports: [...Array(100).keys()],
    })
    for (const line of text([long])) expect(line.length).toBeLessThan(260)
    expect(text([long]).join('')).not.toContain('\u001B')
  })
  test('as an object', () => {
    const said = { plan: { text: 'p', at: NOW }, result: null }
    expect(siblingJson(sibling('a', { said, here: true, ports: [1] }))).toEqual({
      session: 'a',
      activity: null,
      name: null,
      run: 'r000000000001',
      pid: 42,
      dir: '/home/ann/project',
      branch: 'main',
      harness: null,
      nativeId: null,
      since: '2026-01-02T10:57:55.000Z',
      liveness: 'alive',
      state: 'running',
      relation: null,
      doing: { plan: { text: 'p', at: '2026-01-02T12:00:00.000Z' }, result: null },
      locks: [],
      ports: [1],
      usage: null,
      tasks: [],
      note: null,
      here: true,
    })
    expect(siblingJson(sibling('a'))).not.toHaveProperty('here')
  })
})

describe('who one is', () => {
  const self: Self = { kind: 'session', session: session({ name: 'work', native: 'X' }), run: running(), how: 'cookie', why: 'it has it', note: null }
  const agent: Self = {
    kind: 'agent',
    agent: { harness: 'claude', row: row(7), launchers: [], argv: [], cwd: '/c', nativeId: 'Y', named: null },
    inside: 's1',
    why: 'Holdfast did not start it',
  }
  test('in words', () => {
    expect(whoText(self)).toEqual(['s1 (work, X): run r000000000001, epoch 3, in /home/ann/project', 'proof: cookie; it has it'])
    expect(whoText({ ...self, note: 'it was asked to end' })).toContain('note: it was asked to end')
    expect(whoText(agent)).toEqual(['you are in no session, but in claude (pid 7): Holdfast did not start it'])
    expect(whoText({ kind: 'nobody', why: 'no\u001Bbody' })).toEqual(['you are in no session: no·body'])
  })
  test('as an object', () => {
    expect(whoJson(self)).toMatchObject({
      kind: 'session',
      session: 's1',
      run: 'r000000000001',
      epoch: 3,
      how: 'cookie',
      dir: '/home/ann/project',
      nativeId: 'X',
    })
    expect(whoJson(agent)).toMatchObject({
      kind: 'agent',
      session: null,
      harness: 'claude',
      nativeId: 'Y',
      agentPid: 7,
      inside: 's1',
      dir: '/c',
      how: null,
    })
    expect(whoJson({ kind: 'nobody', why: 'x' })).toMatchObject({ kind: 'nobody', session: null, why: 'x', since: null })
  })
})
