import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cgroupContainers } from '../../src/keep/index.ts'
import { cgroupName, cgroupStem, INITIAL_PID_NAMESPACE } from '../../src/model/index.ts'
import { linuxCgroups, linuxProcesses, readPlace } from '../../src/observe/index.ts'
import { verifies } from '../requirements.ts'

const processes = linuxProcesses(readPlace('i'))
const base = linuxCgroups.base()
const place = base.kind === 'base' ? base.path : null

describe.skipIf(place === null)('a cgroup', () => {
  const path = join(place ?? '', `${cgroupStem('0'.repeat(32))}test-${process.pid}`)
  let child: ChildProcess
  beforeAll(() => {
    child = spawn('sleep', ['100'], { stdio: 'ignore' })
  })
  afterAll(() => {
    child.kill('SIGKILL')
    cgroupContainers.remove(path)
  })
  test('that is not there is absent, and can be made, twice', () => {
    expect(linuxCgroups.view(path)).toEqual({ kind: 'absent' })
    expect(cgroupContainers.make(path)).toBeNull()
    expect(cgroupContainers.make(path)).toBeNull()
    expect(linuxCgroups.view(path)).toEqual({ kind: 'present', pids: new Set(), hidden: false })
    expect(linuxCgroups.list(place ?? '', cgroupStem('0'.repeat(32)))).toContain(path)
    expect(linuxCgroups.list('/nowhere', 'x')).toEqual([])
  })
  test('shows who is in it and below, cannot be removed then, and is emptied at once', async () => {
    const below = join(path, 'below')
    expect(cgroupContainers.make(below)).toBeNull()
    expect(cgroupContainers.admit(below, child.pid ?? 0)).toBe(true)
    expect(linuxCgroups.view(path)).toEqual({ kind: 'present', pids: new Set([child.pid]), hidden: false })
    expect(linuxCgroups.cpuMs(path)).toBeGreaterThanOrEqual(0)
    expect(cgroupContainers.remove(path)).toBe(false)
    expect(cgroupContainers.freeze(path) && cgroupContainers.thaw(path)).toBe(true)
    const ended = new Promise((done) => child.once('exit', (_code, signal) => done(signal)))
    expect(cgroupContainers.kill(path)).toBe(true)
    expect(await ended).toBe('SIGKILL')
    expect(cgroupContainers.remove(path)).toBe(true)
    expect(existsSync(path)).toBe(false)
  })
  test('what cannot be done is said, not thrown', () => {
    expect(cgroupContainers.make(join(place ?? '', 'no/such/place'))).toMatch(/could not be made \(ENOENT\)/)
    expect([cgroupContainers.kill(path), cgroupContainers.admit(path, process.pid), cgroupContainers.thaw(path)]).toEqual([false, false, false])
    expect(linuxCgroups.cpuMs(path)).toBeNull()
    expect(cgroupContainers.remove(path)).toBe(true)
  })
})

test('a name carries install and run, and is a valid unit', () => {
  expect(cgroupName('12345678-9abc-def0-1234-56789abcdef0', 'r0123456789ab')).toBe('holdfast-123456789abc-r0123456789ab')
})

describe('listening ports', () => {
  const servers: Server[] = []
  const listen = (host: string): Promise<number> =>
    new Promise((done) => {
      const server = createServer().listen(0, host, () => done((server.address() as { port: number }).port))
      servers.push(server)
    })
  afterAll(() => {
    for (const server of servers) server.close()
  })
  test('of both families, each once, lowest first; nothing of who does not listen or is not there', async () => {
    const ports = [await listen('127.0.0.1'), await listen('::1')].toSorted((a, b) => a - b)
    expect(processes.ports([process.pid, 999_999_999, process.ppid]).get(process.pid)).toEqual(ports)
    expect(processes.ports([999_999_999])).toEqual(new Map())
  })
  test('however many there are: the kernel tells them a page at a time', async () => {
    const more: number[] = []
    for (let count = 0; count < 60; count++) more.push(await listen(count % 2 === 0 ? '127.0.0.1' : '::1'))
    expect(processes.ports([process.pid]).get(process.pid)).toEqual(expect.arrayContaining(more))
  })
})

verifies('unknown', 'a pid namespace is gone only where all can be seen, and then only if nobody lives in it', () => {
  const own = processes.here().pidNamespace
  expect(processes.isNamespaceGone(own)).toBe(false)
  expect(processes.isNamespaceGone('')).toBe(false)
  expect(processes.isNamespaceGone('pid:[1]')).toBe(own === INITIAL_PID_NAMESPACE)
  expect(linuxProcesses({ ...readPlace('i'), pidNamespace: 'pid:[2]' }).isNamespaceGone('pid:[1]')).toBe(false)
})

verifies('unknown', 'who has a pid in another pid namespace is known where all can be seen, and nowhere else', async () => {
  expect(linuxProcesses({ ...readPlace('i'), pidNamespace: 'pid:[2]' }).namesakes(1)).toBe(null)
  if (processes.here().pidNamespace !== INITIAL_PID_NAMESPACE || process.getuid?.() !== 0) return
  const child = spawn('unshare', ['-pf', '--kill-child', 'sh', '-c', 'echo up; exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] })
  await new Promise((done) => child.stdout.once('data', done))
  const { rows } = processes.table({ since: 0, cookies: false })
  const inside = rows.find(({ parent }) => parent === child.pid)
  expect(processes.namesakes(1)?.map(({ pid, ticks }) => ({ pid, ticks }))).toContainEqual({ pid: inside?.pid, ticks: inside?.ticks })
  expect(processes.namesakes(4_194_303)).toEqual([])
  const ended = new Promise((done) => child.once('exit', done))
  child.stdin.end()
  await ended
})

test('what a process was given, has computed and where it works', () => {
  expect(processes.arguments(process.pid).length).toBeGreaterThan(0)
  expect(processes.environment(process.pid)['PATH']).toBe(process.env['PATH'])
  expect(processes.cwd(process.pid)).toBe(process.cwd())
  expect(processes.cpu(processes.self())?.ownMs).toBeGreaterThan(0)
  expect(processes.cpu({ pid: process.pid, ticks: 1 })).toBeNull()
  expect([processes.arguments(999_999_999), processes.environment(999_999_999), processes.cwd(999_999_999)]).toEqual([[], {}, null])
})
