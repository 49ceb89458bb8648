import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import {
  baselineUsage,
  claudeUsage,
  clineUsage,
  codeUsage,
  codexUsage,
  copilotUsage,
  droidUsage,
  geminiUsage,
  gooseUsage,
  grokUsage,
  kiloUsage,
  kimiUsage,
  opencodeUsage,
  piUsage,
  qwenUsage,
  readUsage,
} from '../../src/harness/index.ts'
import type { Tokens, UsageRule } from '../../src/model/index.ts'
import { addTokens, NO_TOKENS, totalTokens } from '../../src/model/index.ts'
import { loadSqlite } from '../../src/record/driver.ts'
import { readForeignDatabase } from '../../src/record/index.ts'

/**
 * Recorded from the real CLIs against the fake model, which says of every answer that it burned 7 of output and, of input, 100 and one
 * more for each result of a tool since the prompt. In the words of OpenAI and Gemini 20 of these were cached; in the words of Anthropic
 * 20 more were read from the cache and 10 written to it. A turn with one tool call is two answers (0 and 1 results), one without is one.
 */
const burned = (results: readonly number[], each: (results: number) => Tokens): Tokens => results.map(each).reduce(addTokens, NO_TOKENS)
const openAi = (results: number): Tokens => ({ input: 80 + results, output: 7, cacheRead: 20, cacheWrite: 0, cost: null })
const anthropic = (results: number): Tokens => ({ input: 100 + results, output: 7, cacheRead: 20, cacheWrite: 10, cost: null })
const TWO_TURNS = [0, 1, 0]

const fixture = (name: string): string => join(import.meta.dirname, '..', 'fixtures', 'usage', name)
const look = (rule: UsageRule, env: Record<string, string>, id: string): Tokens | undefined =>
  readUsage(rule, { env, id }, null, readForeignDatabase)?.tokens

describe('what the real CLIs wrote', () => {
  const recorded: readonly [name: string, rule: UsageRule, id: string, tokens: Tokens][] = [
    // The second turn had an agent: two answers of the session's own, and one (with no results) in the agent's file.
    ['claude', claudeUsage, '5d89c145-5cc4-4fcc-8c5c-457c0d665dc8', { ...burned([0, 1, 0, 1, 0], anthropic), cost: 0.0022485 }],
    ['codex', codexUsage, '01a1e3e5-3d85-75f0-94e1-450281688372', burned(TWO_TURNS, openAi)],
    // One turn that started an agent, whose own answer is in another file.
    ['codex', codexUsage, '01a1e3e9-3bb4-70d0-979c-59ee4952cd2b', burned([0, 1, 0], openAi)],
    ['codex61', codexUsage, '01a1e3e5-421b-7941-9a19-6f6b51228d97', burned(TWO_TURNS, openAi)],
    ['gemini', geminiUsage, '80fe556d-51b4-4104-9b35-082e2b2887a0', burned(TWO_TURNS, openAi)],
    // After the second turn it asked once more by itself, for its memory.
    ['qwen', qwenUsage, '9d2fb9f3-6bc3-4709-a6e1-c91bc0ba7b9b', burned([...TWO_TURNS, 0], openAi)],
    ['copilot', copilotUsage, '7fb04ecf-cc4b-4e57-8828-a4ed319f4a9f', burned(TWO_TURNS, openAi)],
    ['copilot-anthropic', copilotUsage, '2c430c63-2ecd-4a61-80e4-f4a2e02c248e', burned([0], anthropic)],
    ['pi', piUsage, 'f8d6a08d-fe9e-4225-8e8a-784b6cd56edf', burned(TWO_TURNS, openAi)],
    ['kimi', kimiUsage, 'session_bba7f999-faa1-4141-8a92-d91ad41c8848', burned(TWO_TURNS, openAi)],
    // These two ran one turn: a resume needs the cloud, or a daemon that stays.
    ['droid', droidUsage, 'f7abcc64-64aa-4fb5-96e3-59fd2b4273a4', burned([0, 1], openAi)],
    ['cline', clineUsage, '1794825080732_ehn5v', burned([0, 1], openAi)],
    ['grok', grokUsage, '6d8399a0-36c0-486c-bc5a-f70f0197d8e0', burned(TWO_TURNS, openAi)],
  ]
  test.each(recorded)('%s (%#)', (name, rule, id, tokens) => {
    expect(look(rule, { HOME: fixture(name) }, id)).toEqual(tokens)
  })

  test.each(recorded)('%s (%#): of a session that is there already, a run counts nothing but its own', (name, rule, id) => {
    const at = { env: { HOME: fixture(name) }, id }
    const cursor = JSON.parse(JSON.stringify(baselineUsage(rule, at, readForeignDatabase)))
    expect(readUsage(rule, at, cursor, readForeignDatabase)?.tokens).toEqual({
      ...NO_TOKENS,
      cost: expect.toSatisfy((cost) => cost === null || cost === 0),
    })
  })

  test('grok: what a turn under way used counts already, each call of the model once, until its totals tell', () => {
    const id = '6d8399a0-36c0-486c-bc5a-f70f0197d8e0'
    const env = { HOME: mkdtempSync(join(tmpdir(), 'hf-grok-')) }
    const folder = join(env.HOME, '.grok/sessions/%2Fw', id)
    mkdirSync(folder, { recursive: true })
    const call = (streamStartMs: number, totalTokens: number): string => JSON.stringify({ params: { _meta: { streamStartMs, totalTokens } } })
    const put = (name: string, ...lines: string[]): void => writeFileSync(join(folder, name), lines.join('\n'))
    const total = (): number | null => {
      const tokens = look(grokUsage, env, id)
      return tokens === undefined ? null : totalTokens(tokens)
    }
    put('updates.jsonl', '{"params":{}}', call(1, 107), call(1, 107), call(2, 100), call(2, 108), '{"half')
    expect(total()).toBe(215)
    put('updates.jsonl', call(1, 107), call(2, 108), '{"params":{"update":{"sessionUpdate":"turn_completed"}}}', call(3, 50))
    put('usage.json', JSON.stringify({ session: { inputTokens: 200, outputTokens: 14, cachedReadTokens: 20 } }))
    expect(total()).toBe(264)
    rmSync(env.HOME, { recursive: true })
  })

  test('Every Code has a home of its own', () => {
    const id = '01a1e3e5-421b-7941-9a19-6f6b51228d97'
    expect(look(codeUsage, { CODE_HOME: join(fixture('codex61'), '.codex') }, id)).toEqual(burned(TWO_TURNS, openAi))
    expect(look(codeUsage, { HOME: fixture('codex61') }, id)).toBeUndefined()
  })

  test('no such session, and an id that would lead elsewhere, are unknown, which is not nothing', () => {
    for (const [name, rule] of recorded) {
      for (const id of ['00000000-0000-4000-8000-000000000000', '../../x', '..', ''])
        expect(look(rule, { HOME: fixture(name) }, id), name).toBeUndefined()
      expect(look(rule, {}, 'x'), name).toBeUndefined()
    }
  })

  test('a fork begins with a copy of what its session had burned: only its own counts', () => {
    const at = { env: { HOME: fixture('claude') }, id: '173839e2-9c50-46de-8321-3221954dbc71' }
    const lines = readFileSync(join(fixture('claude'), '.claude', 'projects', '-w', `${at.id}.jsonl`), 'utf8')
      .trim()
      .split('\n')
    const prompted = lines.map((line) => JSON.parse(line)).findLast(({ type }) => type === 'user')
    const none = { env: {}, id: at.id }
    const cursor = baselineUsage(claudeUsage, none, readForeignDatabase, Date.parse(prompted.timestamp) - 1)
    expect(readUsage(claudeUsage, at, cursor, readForeignDatabase)?.tokens).toEqual(burned([0], anthropic))
  })
})

describe('what the real CLIs have in their databases', () => {
  const temporary: string[] = []
  afterEach(() => {
    for (const folder of temporary.splice(0)) rmSync(folder, { recursive: true, force: true })
  })
  const databases: readonly [name: string, rule: UsageRule, path: string, id: string, tokens: Tokens][] = [
    ['opencode', opencodeUsage, '.local/share/opencode/opencode.db', 'ses_e1c1a5d79ffecBMT8xyCzWkP6r', burned(TWO_TURNS, openAi)],
    ['kilo', kiloUsage, '.local/share/kilo/kilo.db', 'ses_e1c186a80ffeziFvbbLk0VqJsS', burned(TWO_TURNS, openAi)],
    ['goose', gooseUsage, '.local/share/goose/sessions/sessions.db', '20261116_1', { ...burned(TWO_TURNS, openAi), cost: 0.0008875 }],
  ]
  const built = (name: string, path: string, more = ''): string => {
    const home = mkdtempSync(join(tmpdir(), 'holdfast-usage-'))
    temporary.push(home)
    mkdirSync(dirname(join(home, path)), { recursive: true })
    const { DatabaseSync } = loadSqlite()
    const database = new DatabaseSync(join(home, path))
    database.exec(readFileSync(`${fixture(name)}.sql`, 'utf8'))
    database.exec(more)
    database.close()
    return home
  }

  test.each(databases)('%s', (name, rule, path, id, tokens) => {
    const env = { HOME: built(name, path) }
    expect(look(rule, env, id)).toEqual(tokens)
    expect(look(rule, env, 'ses_none')).toBeUndefined()
  })

  test.each(databases)('%s: only what a run burns itself', (name, rule, path, id) => {
    const env = { HOME: built(name, path) }
    const cursor = baselineUsage(rule, { env, id }, readForeignDatabase)
    const { DatabaseSync } = loadSqlite()
    const database = new DatabaseSync(join(env.HOME, path))
    database.exec(
      name === 'goose'
        ? 'UPDATE sessions SET accumulated_output_tokens = accumulated_output_tokens + 5'
        : 'UPDATE session SET tokens_output = tokens_output + 5',
    )
    database.close()
    expect(readUsage(rule, { env, id }, cursor, readForeignDatabase)?.tokens).toMatchObject({ input: 0, output: 5, cacheRead: 0, cacheWrite: 0 })
  })

  test('opencode: the sessions of its agents count, and theirs; those of others do not', () => {
    const child = (id: string, parent: string, input: number): string =>
      `INSERT INTO session (id, parent_id, tokens_input, project_id, slug, directory, title, version, time_created, time_updated) VALUES ('${id}', '${parent}', ${input}, 'p', 's', '/w', 't', '1', 0, 0);`
    const [, rule, path, id, tokens] = databases[0] as (typeof databases)[number]
    const env = { HOME: built('opencode', path, child('ses_1', id, 1000) + child('ses_2', 'ses_1', 10_000) + child('ses_3', 'ses_x', 500_000)) }
    expect(look(rule, env, id)).toEqual({ ...tokens, input: tokens.input + 11_000 })
  })

  test('a database that cannot be read at the beginning is not taken for an empty one', () => {
    const [, rule, path, id] = databases[0] as (typeof databases)[number]
    const env = { HOME: built('opencode', path) }
    const cursor = baselineUsage(rule, { env, id }, () => null)
    expect(readUsage(rule, { env, id }, cursor, () => null)).toBeNull()
    expect(readUsage(rule, { env, id }, cursor, readForeignDatabase)?.tokens).toEqual(NO_TOKENS)
  })
})
