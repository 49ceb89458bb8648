import { describe, expect, test } from 'vitest'
import { activityAfter, hookCallFrom, isForeign, isInner } from '../../src/decide/index.ts'
import type { ActivityState } from '../../src/model/index.ts'

const of = (natives: string[], refused: string[] = []) => {
  const parse = (line: string) => ({ harness: line.split(' ')[0] ?? '', id: line.split(' ')[1] ?? '' })
  return { natives: natives.map(parse), refused: refused.map(parse) }
}
const call = (json: string, harness = 'claude') => hookCallFrom(harness, JSON.parse(json) as Record<string, unknown>)

describe('whose call it is', () => {
  const mine = of(['claude mine'])
  test.each([
    ['{"tool_input":{"session_id":"other"},"session_id":"mine"}', false],
    ['{"tool_input":{"a":[{"session_id":"other"}]},"sessionId":"mine"}', false],
    ['{"x":"\\"session_id\\":\\"other\\"","session_id":"mine"}', false],
    ['{"sessionId":"other","session_id":"mine"}', false],
    ['{"session_id":"\\u006dine"}', false],
    // Nobody can say who calls.
    ['{}', false],
    ['{"session_id":7}', false],
    ['{"session_id":""}', false],
    ['{"session_id":null,"x":"other"}', false],
    ['{"x":"session_id","y":"other"}', false],
    ['{"tool_input":{"session_id":"other"}}', false],
    ['{"tool_input":{"session_id":"mine"},"session_id":"other"}', true],
    ['{"x":["{",{}],"sessionId":"other"}', true],
  ])('%s is foreign: %s', (json, foreign) => expect(isForeign(call(json), mine)).toBe(foreign))

  test('no list, another harness, or a conversation that was refused prove nothing', () => {
    const other = call('{"session_id":"other"}')
    expect(isForeign(other, of([]))).toBe(false)
    expect(isForeign(other, of([], ['claude x']))).toBe(false)
    expect(isForeign(other, of(['codex a']))).toBe(false)
    expect(isForeign(other, of(['claude a'], ['claude other']))).toBe(false)
    expect(isForeign(other, of(['claude a', 'codex other']))).toBe(true)
  })

  test.each([
    ['{"agent_id":"x1","session_id":"mine"}', true],
    ['{"session_id":"mine","agent_id":"\\u0061"}', true],
    ['{"session_id":"other"}', true],
    ['{"session_id":"mine","agent_id":null}', false],
    ['{"session_id":"mine","agent_id":""}', false],
    ['{"session_id":"mine","agent_id":7}', false],
    ['{"session_id":"mine","tool_input":{"agent_id":"x"},"x":"agent_id"}', false],
  ])('%s is inner: %s', (json, inner) => expect(isInner(call(json), mine)).toBe(inner))
})

describe('the activity after a call', () => {
  const own = call('{"session_id":"mine"}')
  const inner = call('{"session_id":"mine","agent_id":"x"}')
  const other = call('{"session_id":"other"}')
  const codex = call('{"session_id":"mine"}', 'codex')
  const STATES: readonly (ActivityState | null)[] = [null, 'busy', 'waiting', 'idle']
  const next = (event: string, who: typeof own, natives = ['claude mine'], asks = true) =>
    STATES.map((state) => activityAfter(event, who, of(natives), { state, asks }))
  // For: nothing known, busy, waiting, idle.
  test.each([
    ['before-tool', own, ['busy', null, 'busy', 'busy']],
    ['before-tool', inner, [null, null, 'busy', null]],
    ['before-tool', other, [null, null, null, null]],
    ['before-tool', codex, [null, null, null, null]],
    ['turn-end', own, ['idle', 'idle', 'idle', null]],
    ['turn-end', inner, [null, null, null, null]],
    ['turn-end', other, [null, null, null, null]],
    ['waiting', own, ['waiting', 'waiting', null, null]],
    ['waiting', inner, ['waiting', 'waiting', null, null]],
    ['waiting', other, [null, null, null, null]],
    ['waiting', codex, [null, null, null, null]],
    ['prompt', own, [null, null, null, null]],
  ] as const)('%s of %j: %j', (event, who, expected) => expect(next(event, who)).toEqual(expected))

  test('before a conversation is known every harness speaks for the run', () =>
    expect(next('turn-end', codex, [])).toEqual(['idle', 'idle', 'idle', null]))
  test('a harness whose notifications say nothing never waits', () =>
    expect(next('waiting', own, ['claude mine'], false)).toEqual([null, null, null, null]))
})
