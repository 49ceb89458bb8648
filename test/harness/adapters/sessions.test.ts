import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { HARNESSES, harnessNamed } from '../../../src/harness/index.ts'
import type { Environment, OnDisk, ReadDatabase } from '../../../src/model/index.ts'

const home = mkdtempSync(join(tmpdir(), 'hf-sessions-'))
afterEach(() => rmSync(home, { recursive: true, force: true }))

const ID = '7db0e0a7-4f6b-4dd5-a6d9-9f4c79dfa904'
const KIMI = `session_${ID}`
const noDatabase: ReadDatabase = () => expect.unreachable('nobody asked for a database')
const write = (path: string, ...lines: readonly unknown[]): void => {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
}
const find = (name: string, id = ID, env: Environment = { HOME: home }, read = noDatabase): OnDisk | null =>
  harnessNamed(name)?.sessions?.find(env, id, read) ?? null

const CLAUDE = `.claude/projects/-w-a-b/${ID}.jsonl`
const ROLLOUT = `sessions/2026/11/16/rollout-2026-11-16T10-28-16-${ID}.jsonl`
const meta = { type: 'session_meta', payload: { id: ID, cwd: '/w/a.b', cli_version: '0.166.0' } }

/** Our own recordings, cut to what matters. */
const RECORDED: readonly [name: string, id: string, path: string, files: Readonly<Record<string, readonly unknown[]>>][] = [
  [
    'claude',
    ID,
    CLAUDE,
    {
      [CLAUDE]: [
        { type: 'queue-operation', operation: 'enqueue', sessionId: ID },
        { type: 'user', cwd: '/w/a.b' },
      ],
    },
  ],
  ['codex', ID, `.codex/${ROLLOUT}`, { [`.codex/${ROLLOUT}`]: [meta, { type: 'turn_context', payload: { cwd: '/elsewhere' } }] }],
  ['code', ID, `.code/${ROLLOUT}`, { [`.code/${ROLLOUT}`]: [meta] }],
  ['code', ID, `.codex/${ROLLOUT}`, { [`.codex/${ROLLOUT}`]: [meta] }],
  [
    'gemini',
    ID,
    '.gemini/tmp/b/chats/session-2026-11-16T10-28-7db0e0a7.jsonl',
    {
      '.gemini/tmp/b/chats/session-2026-11-16T10-28-7db0e0a7.jsonl': [{ sessionId: ID, projectHash: '35d1', kind: 'main' }],
      '.gemini/tmp/b/.project_root': ['/w/a.b'],
      '.gemini/tmp/c/chats/session-2026-11-16T10-29-7db0e0a7.jsonl': [{ sessionId: '7db0e0a7-0000-4000-8000-000000000000' }],
    },
  ],
  [
    'gemini',
    ID,
    '.gemini/tmp/b/chats/session-2026-11-16T10-28-7db0e0a7.jsonl',
    {
      '.gemini/tmp/b/chats/session-2026-11-16T10-28-7db0e0a7.jsonl': [{ sessionId: ID }],
      '.gemini/projects.json': [{ projects: { '/w/other': 'c', '/w/a.b': 'b' } }],
    },
  ],
  [
    'qwen',
    ID,
    `.qwen/projects/-w-a-b/chats/${ID}.jsonl`,
    { [`.qwen/projects/-w-a-b/chats/${ID}.jsonl`]: [{ sessionId: ID, type: 'user', cwd: '/w/a.b' }] },
  ],
  [
    'copilot',
    ID,
    `.copilot/session-state/${ID}`,
    {
      [`.copilot/session-state/${ID}/workspace.yaml`]: [`id: ${ID}`, 'cwd: /w/a.b', 'name: |-', '  cwd: /elsewhere', 'user_named: false'],
      [`.copilot/session-state/${ID}/events.jsonl`]: [{ type: 'session.start' }],
    },
  ],
  [
    'pi',
    ID,
    `.pi/agent/sessions/--w-a.b--/2026-11-16T10-29-29-033Z_${ID}.jsonl`,
    { [`.pi/agent/sessions/--w-a.b--/2026-11-16T10-29-29-033Z_${ID}.jsonl`]: [{ type: 'session', version: 3, id: ID, cwd: '/w/a.b' }] },
  ],
  [
    'kimi',
    KIMI,
    '.kimi-code/sessions/wd_b_7c91/session_x',
    {
      '.kimi-code/session_index.jsonl': [
        '',
        { sessionId: 'session_0', workDir: '/x' },
        { sessionId: KIMI, sessionDir: '$HOME/.kimi-code/sessions/wd_b_7c91/session_x', workDir: '/w/a.b' },
      ],
    },
  ],
  [
    'droid',
    ID,
    `.factory/sessions/-w-a-b/${ID}.jsonl`,
    { [`.factory/sessions/-w-a-b/${ID}.jsonl`]: [{ type: 'session_start', id: ID, cwd: '/w/a.b' }] },
  ],
  ['grok', ID, `.grok/sessions/%2Fw%2Fa.b/${ID}`, { [`.grok/sessions/%2Fw%2Fa.b/${ID}/usage.json`]: [{}] }],
  [
    'cline',
    '1794825049038_hbfk3',
    '.cline/data/sessions/1794825049038_hbfk3/1794825049038_hbfk3.json',
    { '.cline/data/sessions/1794825049038_hbfk3/1794825049038_hbfk3.json': [{ version: 1, status: 'completed', cwd: '/w/a.b' }] },
  ],
  [
    'cn',
    ID,
    `.continue/sessions/${ID}.json`,
    {
      [`.continue/sessions/${ID}.json`]: [{ sessionId: ID }],
      '.continue/sessions/sessions.json': [[{ sessionId: ID, workspaceDirectory: '/w/a.b' }]],
    },
  ],
]

describe('a session on disk, by its full id', () => {
  test.each(RECORDED)('%s %s in %s', (name, id, path, files) => {
    for (const [file, lines] of Object.entries(files))
      write(file, ...lines.map((line) => (JSON.stringify(line).includes('$HOME') ? JSON.parse(JSON.stringify(line).replace('$HOME', home)) : line)))
    expect(find(name, id)).toEqual({ id, path: join(home, path), dir: '/w/a.b' })
    expect(find(name, id.slice(0, -1))).toBeNull()
    expect(find(name, id.slice(1))).toBeNull()
    expect(find(name, id, {})).toBeNull()
  })
  test.each<[string, string, string]>([
    ['opencode', '.local/share/opencode/opencode.db', 'SELECT directory FROM session WHERE id = ?'],
    ['kilo', '.local/share/kilo/kilo.db', 'SELECT directory FROM session WHERE id = ?'],
    ['goose', '.local/share/goose/sessions/sessions.db', 'SELECT working_dir AS directory FROM sessions WHERE id = ?'],
  ])('%s: a row of its database', (name, path, sql) => {
    const asked: unknown[] = []
    const read: ReadDatabase = (...question) => {
      asked.push(question)
      return [{ directory: '/w/a.b' }]
    }
    expect(find(name, 'ses_1', { HOME: home }, read)).toBeNull()
    expect(asked).toEqual([])
    write(path, 'SQLite')
    expect(find(name, 'ses_1', { HOME: home }, read)).toEqual({ id: 'ses_1', path: join(home, path), dir: '/w/a.b' })
    expect(asked).toEqual([[join(home, path), sql, ['ses_1']]])
    expect(find(name, 'ses_1', { HOME: home }, () => null)).toBeNull()
    expect(find(name, 'ses_1', { HOME: home }, () => [])).toBeNull()
    expect(find(name, 'ses_1', { HOME: home }, () => [{ directory: 5 }])).toMatchObject({ dir: null })
  })
  test.each<[string, string, string]>([
    ['claude', 'CLAUDE_CONFIG_DIR', `projects/-w-a-b/${ID}.jsonl`],
    ['codex', 'CODEX_HOME', ROLLOUT],
    ['code', 'CODE_HOME', ROLLOUT],
    ['code', 'CODEX_HOME', ROLLOUT],
    ['qwen', 'QWEN_HOME', `projects/-w-a-b/chats/${ID}.jsonl`],
    ['pi', 'PI_CODING_AGENT_DIR', `sessions/--w--/1_${ID}.jsonl`],
  ])('%s in the folder that %s says', (name, variable, path) => {
    write(`elsewhere/${path}`, { ...meta, cwd: '/w/a.b' })
    expect(find(name)).toBeNull()
    expect(find(name, ID, { HOME: home, [variable]: join(home, 'elsewhere') })).toMatchObject({ dir: '/w/a.b' })
  })
})

describe('its directory', () => {
  test('is found behind a prompt of any size', () => {
    const long = 'x'.repeat(700_000)
    write(CLAUDE, { type: 'queue-operation', content: long }, { type: 'user', content: long, cwd: '/w/a.b' }, { type: 'assistant', cwd: '/w/a.b' })
    expect(find('claude')).toMatchObject({ dir: '/w/a.b' })
  })
  test('is the first one, wherever it was resumed', () => {
    write(CLAUDE, { type: 'user', cwd: '/elsewhere' }, { type: 'user', cwd: '/w/a.b' })
    expect(find('claude')).toMatchObject({ dir: '/w/a.b' })
  })
  test('is unknown when nothing tells it, or tells nonsense', () => {
    write(CLAUDE, 'not json', '7', 'null', '[]', { cwd: 'relative' }, { cwd: 5 })
    expect(find('claude')).toMatchObject({ dir: null })
    write(`.codex/${ROLLOUT}`, '{"payload":null}')
    expect(find('codex')).toMatchObject({ dir: null })
    write(`.grok/sessions/%ZZ/${ID}/x`, '')
    expect(find('grok')).toMatchObject({ dir: null })
  })
  test.each([
    ["cwd: '/w/it''s'", "/w/it's"],
    ['cwd: "/w/a \\"b\\""', '/w/a "b"'],
    ['cwd: "/w', null],
    ['cwd: w', null],
    ['name: x', null],
  ])('copilot: %s', (text, dir) => {
    write(`.copilot/session-state/${ID}/workspace.yaml`, text)
    // Without a prompt there are no events, and nothing to go on with.
    expect(find('copilot')).toBeNull()
    write(`.copilot/session-state/${ID}/events.jsonl`, '{}')
    expect(find('copilot')).toMatchObject({ dir })
  })
})

describe('no id gets out of its folder', () => {
  const ids = ['', '.', '..', '../x', 'a/b', '/etc/passwd', 'a..b', '-rf', '.hidden', 'a\0b', 'a b', '*', 'x'.repeat(200)]
  test.each(HARNESSES.filter(({ sessions }) => sessions !== null).map(({ name }) => name))('%s', (name) => {
    write('x.jsonl', { cwd: '/w' })
    for (const id of ids) expect(find(name, id), id).toBeNull()
  })
})

describe('the first words of a conversation', () => {
  const words = (name: string, id = ID, read = noDatabase): string | null => harnessNamed(name)?.sessions?.words({ HOME: home }, id, read) ?? null
  test('are those of the person, not those that a harness puts before them', () => {
    write(
      CLAUDE,
      { type: 'queue-operation', sessionId: ID },
      { type: 'user', isMeta: true, message: { role: 'user', content: 'Caveat: not yours' } },
      { type: 'user', message: { role: 'user', content: '<command-name>/clear</command-name>' } },
      { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] } },
      { type: 'user', message: { role: 'user', content: [{ type: 'text', text: 'Fix the\n  parser' }] } },
      { type: 'user', message: { role: 'user', content: 'and then more' } },
    )
    expect(words('claude')).toBe('Fix the parser')
    const item = (text: string) => ({ type: 'response_item', payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] } })
    write(`.codex/${ROLLOUT}`, meta, item('# AGENTS.md instructions for /w'), item('<environment_context>x'), item('review the diff'))
    expect(words('codex')).toBe('review the diff')
    write(`.codex/${ROLLOUT}`, meta, { type: 'event_msg', payload: { type: 'user_message', message: 'hi there' } })
    expect(words('codex')).toBe('hi there')
  })
  test('are short, and none where there are none', () => {
    write(CLAUDE, { type: 'user', message: { role: 'user', content: 'x'.repeat(5000) } })
    expect(words('claude')).toHaveLength(200)
    write(CLAUDE, '{"type":"user","message":{"role":"user"', { type: 'user', message: null })
    expect([words('claude'), words('claude', 'unknown-id'), words('claude', '../x')]).toEqual([null, null, null])
  })
  test('are the title, where a database has one', () => {
    write('.local/share/opencode/opencode.db', 'x')
    const read =
      (title: string): ReadDatabase =>
      () => [{ title }]
    expect([words('opencode', 'ses_1', read('Fix it')), words('opencode', 'ses_1', read('New session - 2026'))]).toEqual(['Fix it', null])
  })
})
