import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { agentsAmong, harnessNamed, registeredAgents } from '../../../src/harness/index.ts'
import type { Registered, RegistryEntry } from '../../../src/model/index.ts'
import { row } from '../../decide/build.ts'

const ID = '01a1e3f4-0027-7e60-9565-aa7d56e0f93c'
const OTHER = '11111111-2222-4333-8444-555555555555'
let home = ''
const started: ChildProcess[] = []
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'hf-registries-'))
})
afterEach(async () => {
  await Promise.all(started.splice(0).map(end))
  rmSync(home, { recursive: true })
})

const HOLD = `cd "$0"; name=$(echo "$1" | sed "s/PID/$$/"); exec flock --close "$name" sh -c 'echo held; exec cat'`
/** It becomes `flock`, which holds the lock for as long as its child, which reads from us, is there. */
const holder = async (folder: string, name: string): Promise<number> => {
  mkdirSync(folder, { recursive: true })
  return run('sh', ['-c', HOLD, folder, name])
}

/** Started, and heard from. */
const run = async (program: string, args: readonly string[]): Promise<number> => {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  started.push(child)
  child.stdin?.write('\n')
  await new Promise((resolve, reject) => {
    child.stdout?.once('data', resolve)
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`${program} ended`)))
  })
  return child.pid ?? expect.unreachable()
}
const end = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.removeAllListeners('exit')
    if (child.exitCode !== null || child.signalCode !== null) resolve()
    child.once('exit', () => resolve())
    child.stdin?.end()
  })
const ticksOf = (pid: number): number =>
  Number(
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[19],
  )
const read = (name: string, mayBeThere: (pid: number) => boolean = () => true): readonly RegistryEntry[] =>
  harnessNamed(name)?.registry?.read({ HOME: home }, mayBeThere) ?? expect.unreachable(name)

describe('codex: who holds the lock of a thread', () => {
  const locks = (): string => join(home, '.codex/thread-writer-locks')
  test('owns the thread, while it holds it', async () => {
    const pid = await holder(locks(), `${ID}.lock`)
    const entry = { process: { pid, ticks: ticksOf(pid) }, cwd: locks(), nativeId: ID, service: false }
    expect(read('codex')).toEqual([entry])
    expect(registeredAgents({ HOME: home }, () => true)).toEqual([{ harness: 'codex', ...entry }])
    expect(read('codex', (one) => one !== pid)).toEqual([])
    await Promise.all(started.splice(0).map(end))
    expect(existsSync(join(locks(), `${ID}.lock`))).toBe(true)
    expect(read('codex')).toEqual([])
  })
  test('is found through a link to its home', async () => {
    await holder(join(home, 'dotfiles/thread-writer-locks'), `${ID}.lock`)
    symlinkSync('dotfiles', join(home, '.codex'))
    expect(read('codex')).toMatchObject([{ nativeId: ID }])
  })
  test('is a service, if its first word says so', async () => {
    mkdirSync(locks(), { recursive: true })
    symlinkSync(`${ID}.lock`, join(locks(), 'app-server'))
    await holder(locks(), 'app-server')
    expect(read('codex')).toMatchObject([{ nativeId: ID, service: true }])
  })
  test('of another file, or in another home, is nobody', async () => {
    await holder(locks(), '.coordination.lock')
    await holder(join(home, 'elsewhere'), `${ID}.lock`)
    expect(read('codex')).toEqual([])
  })
  test('a lock file that nobody holds proves nothing', () => {
    mkdirSync(locks(), { recursive: true })
    writeFileSync(join(locks(), `${ID}.lock`), '')
    expect(read('codex')).toEqual([])
  })
})

describe('grok: one list of those that have a terminal', () => {
  test('a grok that was there when the entry was written, and no other program', async () => {
    const folder = join(home, '.grok')
    mkdirSync(folder)
    copyFileSync('/bin/sleep', join(home, 'grok'))
    const grok = spawn(join(home, 'grok'), ['1000'], { stdio: ['pipe', 'ignore', 'ignore'] })
    const sleep = spawn('sleep', ['1000'], { stdio: ['pipe', 'ignore', 'ignore'] })
    await new Promise((done) => setImmediate(done))
    const entry = (pid: number | undefined, opened: number) => ({ session_id: ID, pid, cwd: '/w', opened_at: new Date(opened).toISOString() })
    const put = (...entries: unknown[]): void => writeFileSync(join(folder, 'active_sessions.json'), JSON.stringify(entries))
    const later = Date.now() + 60_000
    put(entry(sleep.pid, later), entry(grok.pid, 1), entry(undefined, later), null, 7)
    expect(read('grok')).toEqual([])
    put(entry(grok.pid, later))
    expect(read('grok')).toEqual([{ process: { pid: grok.pid, ticks: ticksOf(grok.pid as number) }, cwd: '/w', nativeId: ID, service: false }])
    for (const one of [grok, sleep]) {
      one.kill('SIGKILL')
      await new Promise((done) => one.once('exit', done))
    }
  })
})

describe('copilot: who holds what it named after itself', () => {
  const state = (): string => join(home, '.copilot/session-state', ID)
  test('is in that session, while it holds it', async () => {
    const pid = await holder(state(), 'inuse.PID.hold')
    expect(existsSync(join(state(), `inuse.${pid}.hold`))).toBe(true)
    expect(read('copilot')).toEqual([{ process: { pid, ticks: ticksOf(pid) }, cwd: state(), nativeId: ID, service: false }])
    await Promise.all(started.splice(0).map(end))
    expect(read('copilot')).toEqual([])
  })
  test('but not one that holds what another named', async () => {
    await holder(state(), 'inuse.4000000.hold')
    expect(read('copilot')).toEqual([])
  })
})

describe('cline: a pid without a time', () => {
  const SESSION = '1794825049038_hbfk3'
  const tell = (what: object): void => {
    mkdirSync(join(home, '.cline/data/sessions', SESSION), { recursive: true })
    writeFileSync(join(home, '.cline/data/sessions', SESSION, `${SESSION}.json`), JSON.stringify(what))
  }
  const program = async (name: string): Promise<number> => {
    copyFileSync('/bin/cat', join(home, name))
    return run(join(home, name), [])
  }
  const soon = (): string => new Date(Date.now() + 60_000).toISOString()

  test('is believed of a cline that was there before the session', async () => {
    const pid = await program('cline')
    const told = { pid, status: 'running', cwd: '/w', started_at: soon() }
    tell(told)
    expect(read('cline')).toEqual([{ process: { pid, ticks: ticksOf(pid) }, cwd: '/w', nativeId: SESSION, service: false }])
    expect(read('cline', () => false)).toEqual([])
    for (const over of [
      { status: 'completed' },
      { started_at: '2026-01-01T00:00:00.000Z' },
      { started_at: 'soon' },
      { pid: `${pid}` },
      { pid: 1 },
      { pid: -pid },
    ]) {
      tell({ ...told, ...over })
      expect(read('cline'), JSON.stringify(over)).toEqual([])
    }
    tell({ ...told, cwd: 5 })
    expect(read('cline')).toMatchObject([{ cwd: null, nativeId: SESSION }])
    expect(registeredAgents({ HOME: home }, () => true)).toEqual([])
  })
  test('is not believed of another program, or of nobody', async () => {
    tell({ pid: await program('other'), status: 'running', cwd: '/w', started_at: soon() })
    expect(read('cline')).toEqual([])
    tell({ pid: 4_194_303, status: 'running', cwd: '/w', started_at: soon() })
    expect(read('cline')).toEqual([])
  })
})

describe('a process with several sessions', () => {
  const codex = (line: string) => ({ row: row(500), exe: '/x/codex', argv: line.split(' '), cwd: '/w' })
  const entry = (nativeId: string): Registered => ({ harness: 'codex', process: { pid: 500, ticks: 5000 }, cwd: '/w', nativeId, service: false })
  test('is in the one that it was started for, or else in one that nobody can tell', () => {
    expect(agentsAmong([codex(`codex resume ${OTHER}`)], [entry(ID), entry(OTHER)])).toMatchObject([{ nativeId: OTHER }])
    expect(agentsAmong([codex('codex')], [entry(ID), entry(OTHER)])).toMatchObject([{ nativeId: null }])
    expect(agentsAmong([codex('codex')], [entry(ID), entry(ID)])).toMatchObject([{ nativeId: ID }])
  })
})

describe('claude: what a process is at', () => {
  const ME = { pid: process.pid, ticks: ticksOf(process.pid) }
  const told = { pid: ME.pid, procStart: String(ME.ticks), cwd: '/w', status: 'waiting', statusUpdatedAt: 1_700_000_000_000 }
  const activity = (what: unknown, at = ME) => {
    mkdirSync(join(home, '.claude/sessions'), { recursive: true })
    writeFileSync(join(home, '.claude/sessions', `${ME.pid}.json`), typeof what === 'string' ? what : JSON.stringify(what))
    return harnessNamed('claude')?.registry?.activity?.({ HOME: home }, at)
  }
  test('is what it says of itself, and since when', () => {
    expect(activity(told)).toEqual({ state: 'waiting', since: 1_700_000_000_000 })
    expect(activity({ ...told, status: 'shell', statusUpdatedAt: '2026-01-02T00:00:00.000Z' })).toEqual({
      state: 'idle',
      since: Date.UTC(2026, 0, 2),
    })
    expect(activity({ ...told, statusUpdatedAt: undefined, updatedAt: 5 })).toEqual({ state: 'waiting', since: 5 })
  })
  test('is nothing where it is of another process, or makes no sense', () => {
    expect(activity(told, { ...ME, ticks: ME.ticks + 1 })).toBeNull()
    expect(activity(told, { pid: 999_999, ticks: 1 })).toBeNull()
    for (const over of [{ status: 'toString' }, { status: 7 }, { statusUpdatedAt: 'soon' }, { statusUpdatedAt: -1 }, { procStart: 'x' }, { pid: 1 }])
      expect(activity({ ...told, ...over }), JSON.stringify(over)).toBeNull()
    expect(activity('{')).toBeNull()
  })
  test('is asked of no other harness', () => {
    for (const name of ['codex', 'qwen', 'copilot']) expect(harnessNamed(name)?.registry?.activity, name).toBeUndefined()
  })
})
