import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { ProcessId, Sample } from '../../src/model/index.ts'
import { ignoredSignals } from '../../src/observe/caller.ts'
import { findDirectory } from '../../src/observe/directory.ts'
import { networkFileSystem, networkName, sharedFileSystem } from '../../src/observe/filesystem.ts'
import { linuxProcesses, readPlace } from '../../src/observe/index.ts'
import { verifies } from '../requirements.ts'

const processes = linuxProcesses(readPlace('test'))
const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})
function start(command: string, ...args: string[]): ProcessId {
  const child = spawn(command, args, { stdio: 'ignore' })
  children.push(child)
  const seen = processes.sample(child.pid ?? 0)
  if (seen.kind !== 'seen') throw new Error('not seen')
  return { pid: seen.row.pid, ticks: seen.row.ticks }
}
const stateOf = (sample: Sample): string => (sample.kind === 'seen' ? sample.row.state : sample.kind)

async function until(look: () => boolean): Promise<void> {
  for (let tries = 0; !look(); tries++) {
    if (tries > 500) throw new Error('waited in vain')
    await new Promise((next) => setTimeout(next, 10))
  }
}

test('a process is seen with its identity, and absent when it is gone', async () => {
  const id = start('sleep', '60')
  expect(processes.sample(id.pid)).toMatchObject({ kind: 'seen', row: { pid: id.pid, parent: process.pid, uid: process.getuid?.() } })
  expect(id.ticks).toBeGreaterThan(0)
  children[0]?.kill('SIGKILL')
  await until(() => processes.sample(id.pid).kind === 'absent')
})

test('numbers that are no pids are absent, not groups', () => {
  for (const pid of [0, -1, -process.pid, 1.5, Number.NaN, 2 ** 31, 2 ** 32 + 1]) expect(processes.sample(pid)).toEqual({ kind: 'absent' })
})

verifies('innocent', 'a signal goes only to the very process, and never to init, ourselves, our parent or a group', () => {
  const id = start('sleep', '60')
  for (const pid of [0, 1, -1, -id.pid, Number.NaN, process.pid, process.ppid])
    expect(processes.send({ pid, ticks: id.ticks }, 'SIGKILL'), String(pid)).toBe('forbidden')
  expect(processes.send({ pid: id.pid, ticks: id.ticks + 1 }, 'SIGKILL')).toBe('someone-else')
  expect(['R', 'S', 'D']).toContain(stateOf(processes.sample(id.pid)))
})

verifies('identity', 'a stopped process is there, a zombie takes no signal', async () => {
  const id = start('sleep', '60')
  expect(processes.send(id, 'SIGSTOP')).toBe('sent')
  await until(() => stateOf(processes.sample(id.pid)) === 'T')
  expect(processes.send(id, 'SIGKILL')).toBe('sent')
  await until(() => processes.send(id, 'SIGTERM') === 'gone')
})

test('one pass sees everybody with their marker, except what is older than asked for', () => {
  const marker = 4_000_000_000_123_456
  const child = spawn('prlimit', [`--rttime=${marker}:`, 'sleep', '60'], {
    stdio: 'ignore',
    env: { ...process.env, HOLDFAST_LINEAGE: 'outer:inner' },
  })
  children.push(child)
  return until(() => {
    const { rows, blind } = processes.table({ since: 0, cookies: true })
    const row = rows.find(({ pid }) => pid === child.pid)
    if (row?.marker !== marker) return false
    expect(blind).toBeNull()
    expect(row.cookie).toBe('inner')
    expect(rows.some(({ pid }) => pid === process.pid)).toBe(true)
    const later = processes.table({ since: row.ticks + 1, cookies: false }).rows.find(({ pid }) => pid === child.pid)
    expect(later).toMatchObject({ pid: child.pid })
    expect(later).not.toHaveProperty('marker')
    return true
  })
})

test('a directory is what it is, not what it is called', () => {
  const root = mkdtempSync(join(tmpdir(), 'hf-dir-'))
  symlinkSync(root, `${root}/link`)
  writeFileSync(`${root}/file`, '')
  const key = findDirectory(root)
  for (const name of [`${root}/`, `${root}/.`, `${root}/link`, `${root}/link/link/..//${root.split('/').at(-1)}`])
    expect(findDirectory(name)).toEqual(key)
  expect(() => findDirectory(`${root}/nope`)).toThrow(expect.objectContaining({ id: 'directory-missing', kind: 'notFound' }))
  expect(() => findDirectory(`${root}/file`)).toThrow(
    expect.objectContaining({ id: 'directory-missing', message: expect.stringMatching(/not a directory/) }),
  )
  rmSync(root, { recursive: true })
})

test('network file systems are known by name', () => {
  expect([0x6969, 0xff534d42, 0xfe534d42 | 0, 0x01021997].map(networkName)).toEqual(['NFS', 'CIFS', 'SMB', '9p'])
  expect(networkName(0xef53)).toBeNull()
  expect(networkFileSystem(tmpdir())).toBeNull()
  expect([sharedFileSystem(tmpdir()), sharedFileSystem('/nope')]).toEqual([null, 'a file system that cannot be asked (ENOENT)'])
})

test('the signals a process ignores are read from it', async () => {
  const child = spawn('sh', ['-c', "trap '' INT USR1; sleep 60 & wait"], { stdio: 'ignore' })
  children.push(child)
  await until(() => ignoredSignals(child.pid ?? 0).has(2))
  expect([...ignoredSignals(child.pid ?? 0)]).toEqual([2, 10])
})

test('a terminal is known by when it was born: what is younger, or is none, is not taken for it', () => {
  for (const path of ['/dev/none', '/etc/passwd', '/dev']) expect(processes.isTerminalSince(path, Date.now()), path).toBe(false)
  expect(processes.isTerminalSince('/dev/null', Date.now())).toBe(true)
  expect(processes.isTerminalSince('/dev/null', 0)).toBe(false)
})
