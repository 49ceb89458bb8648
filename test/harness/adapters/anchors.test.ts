import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { allAnchors, anchorNow, harnessNamed, isProgramOf, stampOf } from '../../../src/harness/index.ts'
import type { Anchor } from '../../../src/model/index.ts'
import { INITIAL_PID_NAMESPACE } from '../../../src/model/index.ts'
import { row } from '../../decide/build.ts'

const ID = '01a1e3f4-0027-7e60-9565-aa7d56e0f93c'
let home = ''
let child: ChildProcess | null = null
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hf-anchors-'))
})
afterEach(async () => {
  if (child !== null) await new Promise((done) => child?.once('exit', done) && child?.stdin?.end())
  child = null
  rmSync(home, { recursive: true })
})

/** Elsewhere not all locks can be seen. */
const FREE = readlinkSync('/proc/self/ns/pid') === INITIAL_PID_NAMESPACE ? 'free' : 'unknown'
const list = (name: string): readonly Anchor[] => harnessNamed(name)?.registry?.anchors.list({ HOME: home }).anchors ?? expect.unreachable(name)
const one = (name: string): Anchor => {
  const [first, ...more] = list(name)
  expect(more).toEqual([])
  return first ?? expect.unreachable(`no anchor of ${name}`)
}
const write = (path: string, what: unknown): string => {
  const at = join(home, path)
  mkdirSync(dirname(at), { recursive: true })
  writeFileSync(at, typeof what === 'string' ? what : JSON.stringify(what))
  return at
}
/** Holds a flock until its input ends. */
const hold = async (path: string): Promise<void> => {
  mkdirSync(dirname(path), { recursive: true })
  const holder = spawn('sh', ['-c', `exec flock --close "$0" sh -c 'echo held; exec cat'`, path], { stdio: ['pipe', 'pipe', 'inherit'] })
  child = holder
  await new Promise((done) => holder.stdout.once('data', done))
}
const stampsOf = (...paths: string[]) => paths.map((path) => ({ path, stamp: stampOf(path) }))

describe('claude and qwen: a file for each pid', () => {
  test('tells pid, ticks, machine and pid namespace, whether anybody is there or not', () => {
    const path = write('.claude/sessions/77.json', {
      pid: 77,
      sessionId: ID,
      cwd: '/w',
      procStart: '4711',
      pidDomain: 'linux:0123456789abcdef:pid:[4026531836]',
    })
    write('.claude/sessions/77.key', 'secret')
    expect(one('claude')).toEqual({
      harness: 'claude',
      nativeId: ID,
      path,
      files: stampsOf(path),
      says: { kind: 'process', pid: 77, ticks: 4711, bootId: null, machine: '0123456789abcdef', pidNamespace: 'pid:[4026531836]', flock: 'none' },
    })
  })
  test('as older releases, and machines without an id, write it', () => {
    const says = (more: object) => {
      write('.claude/sessions/77.json', { pid: 77, procStart: '4711', ...more })
      return one('claude').says
    }
    expect(says({})).toMatchObject({ ticks: 4711, machine: null, pidNamespace: null })
    expect(says({ pidDomain: 'linux::pid:[5]' })).toMatchObject({ machine: null, pidNamespace: 'pid:[5]' })
    expect(says({ pidDomain: 'linux:m:' })).toMatchObject({ machine: 'm', pidNamespace: null })
    expect(says({ pidDomain: 'linux:box' })).toMatchObject({ machine: null, pidNamespace: null })
    expect(says({ pidDomain: 5, procStart: undefined })).toMatchObject({ ticks: null, machine: null })
  })
  test('qwen tells the boot, and the number of its pid namespace', () => {
    write('.qwen/sessions/78.json', { pid: 78, procStart: 'boot-id:99', pidNs: 4_026_531_836, sessionId: ID })
    expect(one('qwen').says).toMatchObject({ pid: 78, ticks: 99, bootId: 'boot-id', machine: null, pidNamespace: 'pid:[4026531836]' })
    write('.qwen/sessions/78.json', { pid: 78, procStart: null, pidNs: null })
    expect(one('qwen').says).toMatchObject({ ticks: null, bootId: null, pidNamespace: null })
  })
  test('what makes no sense is told of as such, and has no file to remove', () => {
    const wrong: Readonly<Record<string, unknown>> = {
      '0.json': { pid: 0, procStart: '1' },
      '-1.json': { pid: -1, procStart: '1' },
      '007.json': { pid: 7, procStart: '1' },
      '4194305.json': { procStart: '1' },
      'garbage.json': { pid: 5, procStart: '1' },
      '20.json': '{"pid":20,',
      '21.json': [21],
      '22.json': { pid: 23, procStart: '1' },
      '23.json': { pid: '23', procStart: '1' },
      '24.json': ' '.repeat(70_000),
    }
    for (const [name, what] of Object.entries(wrong)) write(`.claude/sessions/${name}`, what)
    symlinkSync('/etc/hostname', join(home, '.claude/sessions/25.json'))
    const found = list('claude')
    expect(found).toHaveLength(11)
    for (const { path, says, files } of found) expect([path, says.kind, files]).toEqual([path, 'malformed', []])
  })
  test('a file that changes is another one to its stamp, also in place and of the same length', () => {
    const path = write('.claude/sessions/77.json', { pid: 77, procStart: '4711' })
    const before = one('claude').files
    write('.claude/sessions/77.json', { pid: 77, procStart: '4712' })
    expect(one('claude').files).not.toEqual(before)
    expect(anchorNow(one('claude'))).toEqual(one('claude'))
    const last = one('claude')
    rmSync(path)
    expect(anchorNow(last)).toBe(null)
  })
  test('there is a bound, and it is told when there are more', () => {
    for (let pid = 1; pid <= 501; pid++) write(`.claude/sessions/${pid}.json`, {})
    const { anchors, cut } = allAnchors({ HOME: home })
    expect([anchors.length, cut]).toEqual([500, ['claude']])
    rmSync(join(home, '.claude/sessions/1.json'))
    expect(allAnchors({ HOME: home }).cut).toEqual([])
  })
})

describe('copilot: a lock that says the pid, and one that is held', () => {
  const state = (): string => join(home, '.copilot/session-state', ID)
  test('both files are one anchor', async () => {
    const lock = write(`.copilot/session-state/${ID}/inuse.77.lock`, '77\n')
    const held = join(state(), 'inuse.77.hold')
    await hold(held)
    write(`.copilot/session-state/${ID}/workspace.yaml`, 'cwd: /w')
    const told = { kind: 'process', pid: 77, ticks: null, bootId: null, machine: null, pidNamespace: null }
    expect(one('copilot')).toEqual({
      harness: 'copilot',
      nativeId: ID,
      path: lock,
      files: stampsOf(lock, held),
      says: { ...told, flock: 'held' },
    })
    child?.stdin?.end()
    await new Promise((done) => child?.once('exit', done))
    child = null
    expect(one('copilot').says).toEqual({ ...told, flock: FREE })
    rmSync(lock)
    expect(one('copilot')).toMatchObject({ path: lock, files: stampsOf(held), says: { pid: 77, flock: FREE } })
    rmSync(held)
    expect(list('copilot')).toEqual([])
  })
  test('without the one that is held there is no lock to speak for it', () => {
    write(`.copilot/session-state/${ID}/inuse.77.lock`, '77')
    expect(one('copilot').says).toMatchObject({ pid: 77, flock: 'none' })
  })
  test('what makes no sense is told of as such', () => {
    write(`.copilot/session-state/${ID}/inuse.0.lock`, '0')
    write(`.copilot/session-state/${ID}/inuse.x.hold`, '')
    write(`.copilot/session-state/${ID}/inuse.12.lock`, '13')
    expect(list('copilot').map(({ says, files }) => [says.kind, files])).toEqual([
      ['malformed', []],
      ['malformed', []],
      ['malformed', []],
    ])
  })
})

describe('codex and cline: what is never removed', () => {
  test('only the lock on a thread tells whether it is held; its file stays for good', async () => {
    const path = join(home, '.codex/thread-writer-locks', `${ID}.lock`)
    await hold(path)
    write('.codex/thread-writer-locks/.coordination.lock', '')
    expect(one('codex')).toEqual({ harness: 'codex', nativeId: ID, path, files: [], says: { kind: 'flock', flock: 'held' } })
    child?.stdin?.end()
    await new Promise((done) => child?.once('exit', done))
    child = null
    expect(one('codex').says).toEqual({ kind: 'flock', flock: FREE })
  })
  test('a session of cline that says it runs', () => {
    const SESSION = '1794825049038_hbfk3'
    const path = write(`.cline/data/sessions/${SESSION}/${SESSION}.json`, { pid: 77, status: 'running' })
    expect(one('cline')).toMatchObject({ nativeId: SESSION, path, files: [], says: { kind: 'process', pid: 77, ticks: null, flock: 'none' } })
    write(`.cline/data/sessions/${SESSION}/${SESSION}.json`, { pid: -3, status: 'running' })
    expect(one('cline').says.kind).toBe('malformed')
    write(`.cline/data/sessions/${SESSION}/${SESSION}.json`, { pid: 77, status: 'completed' })
    expect(list('cline')).toEqual([])
  })
})

test('a program of a harness is one at work or not, and no other', () => {
  const candidate = (exe: string, line: string) => ({ row: row(5), exe, argv: line.split(' '), cwd: '/' })
  expect(isProgramOf(candidate('/x/copilot', 'copilot --version'), 'copilot')).toBe(true)
  expect(isProgramOf(candidate('/usr/bin/node', 'node /x/node_modules/@github/copilot/index.js'), 'copilot')).toBe(true)
  expect(isProgramOf(candidate('/usr/bin/node', 'node /x/server.js'), 'copilot')).toBe(false)
  expect(isProgramOf(candidate('/usr/bin/claude', 'claude'), 'copilot')).toBe(false)
})

test('nobody has any, where there is nothing', () => {
  expect(allAnchors({ HOME: home })).toEqual({ anchors: [], cut: [] })
})
