import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { captureNative, harnessNamed, type Seen } from '../../src/harness/index.ts'
import type { Harness } from '../../src/model/index.ts'
import { loadSqlite } from '../../src/record/driver.ts'
import { readForeignDatabase } from '../../src/record/index.ts'

const { DatabaseSync } = loadSqlite()

const ID = '0198c2f4-1b2c-7d3e-8f40-0123456789ab'
const OTHER = '11111111-2222-4333-8444-555555555555'
const codex = harnessNamed('codex') as Harness
const seen = (over: Partial<Seen> = {}): Seen => ({ agent: null, output: () => null, tools: () => null, begun: () => [], ...over })
const printed = (...lines: string[]) => captureNative(codex, seen({ output: () => lines.join('\n') }))

describe('a session that was begun where the run works, since it began', () => {
  const home = mkdtempSync(join(tmpdir(), 'hf-begun-'))
  afterAll(() => rmSync(home, { recursive: true }))
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  const since = Date.parse('2026-11-19T06:58:50Z')
  const begun = (name: string, dir = '/w/a', env = { HOME: home }): string | null => {
    const harness = harnessNamed(name) as Harness
    return captureNative(harness, seen({ begun: (find) => find(env, { dir, since }, readForeignDatabase) }))
  }
  test('kimi: its index tells where, its wire when', () => {
    const entry = (id: string, workDir: string, at: number): void => {
      const folder = `.kimi-code/sessions/wd/${id}`
      put(`${folder}/agents/main/wire.jsonl`, `{"type":"metadata","created_at":${at}}\n`)
      index.push(JSON.stringify({ sessionId: id, sessionDir: join(home, folder), workDir }))
      put('.kimi-code/session_index.jsonl', index.join('\n'))
    }
    const index: string[] = []
    entry('session_old', '/w/a', since - 1)
    entry('session_else', '/w/b', since + 1)
    expect(begun('kimi')).toBeNull()
    entry('session_own', '/w/a', since + 1)
    expect(begun('kimi')).toBe('session_own')
    entry('session_more', '/w/a', since + 2)
    expect(begun('kimi')).toBeNull()
  })
  test('droid: a folder for each directory, the first message tells when', () => {
    const session = (id: string, cwd: string, at: string): void =>
      put(`.factory/sessions/-w-a/${id}.jsonl`, `{"type":"session_start","id":"${id}","cwd":"${cwd}"}\n{"type":"message","timestamp":"${at}"}\n`)
    session(OTHER, '/w/a', '2026-11-19T06:58:49Z')
    session('33333333-2222-4333-8444-555555555555', '/w-a', '2026-11-19T06:59:00Z')
    expect(begun('droid')).toBeNull()
    session(ID, '/w/a', '2026-11-19T06:58:59.689Z')
    expect(begun('droid')).toBe(ID)
  })
  test('goose: its database tells both, in whole seconds; a subagent is another type', () => {
    const folder = join(home, '.local/share/goose/sessions')
    mkdirSync(folder, { recursive: true })
    const database = new DatabaseSync(join(folder, 'sessions.db'))
    database.exec('CREATE TABLE sessions (id TEXT, working_dir TEXT, created_at TIMESTAMP, session_type TEXT)')
    const add = (id: string, dir: string, at: string, type = 'user'): void =>
      void database.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?)').run(id, dir, at, type)
    add('20261119_1', '/w/a', '2026-11-19 06:58:49')
    add('20261119_2', '/w/b', '2026-11-19 06:59:00')
    add('20261119_3', '/w/a', '2026-11-19 06:59:00', 'sub_agent')
    expect(begun('goose')).toBeNull()
    add('20261119_4', '/w/a', '2026-11-19 06:58:50')
    expect(begun('goose')).toBe('20261119_4')
    database.close()
  })
})

describe('the id of an agent’s session', () => {
  test('is what its output says first, whatever a tool prints later', () => {
    expect(printed(`{"type":"thread.started","thread_id":"${ID}"}`, `{"thread_id":"${OTHER}"}`)).toBe(ID)
    expect(printed('warning: something', '{"no":"id"}', 'not json {', `{"thread_id":"${ID}"}`)).toBe(ID)
    expect(printed(`{"thread_id":"../../etc"}`)).toBeNull()
    expect(printed(`{"thread_id":7}`, `{"thread_id":`)).toBeNull()
    expect(printed()).toBeNull()
  })
  test('or stands in what it says of itself before anything else, and not below that', () => {
    expect(printed('OpenAI Codex v0.166.0', '--------', `session id: ${ID}`, '--------')).toBe(ID)
    expect(printed(`  session id: ${ID}`)).toBeNull()
    expect(printed(...Array.from({ length: 30 }, () => 'x'), `session id: ${ID}`)).toBeNull()
    expect(printed(`session id: ${ID}`, `session id: ${OTHER}`)).toBeNull()
  })
  test('or is that of the one transcript that it has open', () => {
    const folder = mkdtempSync(join(tmpdir(), 'hf-capture-'))
    const open = (id: string): number => openSync(join(folder, `rollout-2026-11-16T10-00-00-${id}.jsonl`), 'w')
    const own = captureNative(codex, seen({ agent: process.pid }))
    const first = open(ID)
    const one = captureNative(codex, seen({ agent: process.pid }))
    const second = open(OTHER)
    const two = captureNative(codex, seen({ agent: process.pid }))
    for (const fd of [first, second]) closeSync(fd)
    rmSync(folder, { recursive: true })
    expect([own, one, two]).toEqual([null, ID, null])
  })
  test('or is what it tells its tools, if they all agree and are known to be its own', () => {
    const told = (...ids: string[]) => captureNative(codex, seen({ tools: () => ids.map((id) => ({ CODEX_THREAD_ID: id })) }))
    expect([told(ID), told(ID, ID), told(ID, OTHER), told(), captureNative(codex, seen())]).toEqual([ID, ID, null, null, null])
    expect(captureNative(codex, seen({ tools: () => [{ CLAUDE_CODE_SESSION_ID: ID }] }))).toBeNull()
  })
})
