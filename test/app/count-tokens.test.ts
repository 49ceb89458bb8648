import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type Counting, countTokens, furthest, lastWatched, tokensOf } from '../../src/app/usage/count-tokens.ts'
import { marksOf, placesOf, recordPlaces, windowsIn } from '../../src/app/usage/usage-baseline.ts'
import type { World } from '../../src/app/world/world.ts'
import { claudeUsage, usageSince } from '../../src/harness/index.ts'
import { runFiles } from '../../src/keep/index.ts'
import { verifies } from '../requirements.ts'

const home = mkdtempSync(join(tmpdir(), 'holdfast-counting-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
const RUN = 'r000000000001'
const env = { CLAUDE_CONFIG_DIR: join(home, 'claude') }
const files = runFiles(home)
const world = { ...files, env, readDatabase: () => null, clock: { now: () => 50 } } as unknown as World
const projects = join(home, 'claude', 'projects', '-w')

/** Another answer of a conversation, so many tokens long. */
const burn = (id: string, tokens: number, at = 100): void =>
  appendFileSync(
    join(projects, `${id}.jsonl`),
    `${JSON.stringify({ type: 'assistant', timestamp: new Date(at).toISOString(), message: { id: `m${Math.random()}`, usage: { input_tokens: tokens } } })}\n`,
  )
const begin = (id: string, since: number): void => {
  files.usageFiles.recordBaseline(RUN, JSON.stringify({ native: `claude ${id}`, cursor: usageSince(claudeUsage, since) }))
  files.agentState.recordNative(RUN, { harness: 'claude', id })
}

beforeEach(() => {
  for (const folder of [join(home, 'runs', RUN), projects]) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
  }
})

/** One whose first look at what was counted is followed by something that another process does. */
const interrupted = (by: () => void): Counting => {
  let isFirst = true
  const counted = (run: string): string | null => {
    const text = files.usageFiles.counted(run)
    if (isFirst) by()
    isFirst = false
    return text
  }
  return { ...world, usageFiles: { ...files.usageFiles, counted } }
}

describe('two that count at once', () => {
  verifies('innocent', 'a conversation that begins while somebody reads long still begins there', () => {
    begin('one', 0)
    burn('one', 5)
    burn('two', 5000, 100)
    const slow = interrupted(() => {
      begin('two', 200)
      expect(tokensOf(world, RUN)?.input).toBe(5)
    })
    expect(tokensOf(slow, RUN)?.input).toBe(5)
    burn('two', 7, 300)
    expect(tokensOf(world, RUN)?.input).toBe(12)
  })

  test('what one has counted and seen is not taken back by the other', () => {
    begin('one', 0)
    burn('one', 5)
    const slow = interrupted(() => {
      burn('one', 20)
      expect(countTokens(world, RUN, 'all', true)?.tokens.input).toBe(25)
      rmSync(join(projects, 'one.jsonl'))
    })
    countTokens(slow, RUN, 'all', false)
    expect(tokensOf(world, RUN)?.input).toBe(25)
    expect(lastWatched(world, RUN)).toMatchObject({ at: 50, tokens: { input: 25 } })
  })

  test('the further cursor holds, and the later sight', () => {
    const cursor = (input: number) => ({ ...usageSince(claudeUsage, 0), tokens: { input, output: 0, cacheRead: 0, cacheWrite: 0, cost: null } })
    const watched = (at: number) => ({ at, tokens: cursor(at).tokens })
    const [one, other] = [
      { cursors: { a: cursor(5), b: cursor(1) }, watched: watched(9) },
      { cursors: { a: cursor(3), b: cursor(2), c: cursor(0) }, watched: watched(8) },
    ]
    const both = { cursors: { a: cursor(5), b: cursor(2), c: cursor(0) }, watched: watched(9) }
    expect([furthest(one, other), furthest(other, one)]).toEqual([both, both])
  })
})

describe('where counting begins', () => {
  test('is said once; what is said later, or half, changes nothing', () => {
    recordPlaces(world, RUN, { HOME: '/first', SECRET: '/x', CODEX_HOME: 'relative' })
    appendFileSync(join(home, 'runs', RUN, 'begun'), '{"env":{"HO')
    recordPlaces(world, RUN, { HOME: '/second' })
    begin('one', 7)
    begin('one', 9)
    expect(placesOf(world, RUN)).toEqual({ HOME: '/first' })
    expect(windowsIn(world, RUN, marksOf(world, RUN), { harness: 'claude', id: 'one' }, claudeUsage)).toMatchObject([{ start: { since: 7 } }])
  })

  verifies('unknown', 'what nobody could write down is not counted from the beginning of time', () => {
    files.agentState.recordNative(RUN, { harness: 'claude', id: 'one' })
    burn('one', 5)
    expect(tokensOf(world, RUN)).toBeNull()
  })
})

test('who finds nothing new writes nothing', () => {
  begin('one', 0)
  burn('one', 5)
  countTokens(world, RUN, 'glance', true)
  const path = join(home, 'runs', RUN, 'usage')
  const before = statSync(path).ino
  for (const effort of ['glance', 'none', 'all', 'glance'] as const) expect(countTokens(world, RUN, effort, true)?.tokens.input).toBe(5)
  expect(statSync(path).ino).toBe(before)
})
