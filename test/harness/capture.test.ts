import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { captureNative, harnessNamed, type Seen } from '../../src/harness/index.ts'
import type { Harness } from '../../src/model/index.ts'

const ID = '0198c2f4-1b2c-7d3e-8f40-0123456789ab'
const OTHER = '11111111-2222-4333-8444-555555555555'
const codex = harnessNamed('codex') as Harness
const seen = (over: Partial<Seen> = {}): Seen => ({ agent: null, output: () => null, tools: () => null, begun: () => [], ...over })
const printed = (...lines: string[]) => captureNative(codex, seen({ output: () => lines.join('\n') }))

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
