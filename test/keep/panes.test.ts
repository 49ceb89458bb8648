import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeGate } from '../../src/keep/tmux/pane-gate.ts'
import { tmuxPanes } from '../../src/keep/tmux/panes.ts'
import { leftoverAt, makePrivate, removeLeftover, socketOf } from '../../src/keep/tmux/tmux-place.ts'
import type { RunRecords } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

let root = ''
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'hf-panes-')))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))
const uid = process.geteuid?.() ?? 0

describe('where the tmux server of a home listens', () => {
  test('in the home or, where that is too long for a socket, in a short folder that depends on nothing but the home', () => {
    expect(socketOf('/home/a/.local/state/holdfast', 7)).toBe('/home/a/.local/state/holdfast/tmux/sock')
    const long = `/home/${'ü'.repeat(50)}`
    expect(socketOf(long, 7)).toMatch(/^\/tmp\/holdfast-7\/[0-9a-f]{24}\/sock$/)
    expect(socketOf(`${long}2`, 7)).not.toBe(socketOf(long, 7))
  })
  verifies('private', 'its folder is the user’s alone: no link, nobody else’s, closed to others', () => {
    makePrivate(join(root, 'tmux', 'sock'), uid)
    expect(lstatSync(join(root, 'tmux')).mode & 0o777).toBe(0o700)
    makePrivate(join(root, 'tmux', 'sock'), uid)
    expect(() => makePrivate(join(root, 'tmux', 'sock'), uid + 1)).toThrow('belongs to uid')
    chmodSync(join(root, 'tmux'), 0o750)
    expect(() => makePrivate(join(root, 'tmux', 'sock'), uid)).toThrow('others may enter it')
    mkdirSync(join(root, 'real'), { mode: 0o700 })
    symlinkSync(join(root, 'real'), join(root, 'link'))
    expect(() => makePrivate(join(root, 'link', 'sock'), uid)).toThrow('it is no folder')
  })
})

test('its programs are looked for where they would be run from', () => {
  const [bin, home] = [join(root, 'bin'), join(root, 'home')]
  mkdirSync(bin)
  const never = (): never => expect.unreachable('nobody asks for that')
  const panes = (PATH: string) =>
    tmuxPanes({ home, assets: '', runRecords: {} as RunRecords, env: { PATH }, birth: never, arguments: never, send: never })
  expect(panes(bin).trouble()).toEqual({ why: 'there is no tmux program on PATH', hint: 'install tmux, or leave --tmux out' })
  writeFileSync(join(bin, 'tmux'), '', { mode: 0o755 })
  expect(panes(bin).trouble()).toMatchObject({ why: 'there is no mkfifo program on PATH', hint: expect.stringMatching(/^install mkfifo/) })
  writeFileSync(join(bin, 'mkfifo'), '', { mode: 0o755 })
  expect(panes(bin).trouble()).toBeNull()
  // Where tmux is there, and its place is not ours, nothing has to be installed.
  mkdirSync(join(home, 'tmux'), { recursive: true })
  chmodSync(join(home, 'tmux'), 0o755)
  const strange = panes(bin).trouble()
  expect(strange?.why).toContain('others may enter it')
  expect(strange?.hint).toBe('see who made that folder, or leave --tmux out')
})

describe('what a tmux server has left of its place', () => {
  /** As one leaves it that is killed: a socket on which nobody listens. */
  const leave = (socket: string): void => {
    makePrivate(socket, uid)
    const script = 'require("node:net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))'
    spawnSync(process.execPath, ['-e', script, socket])
    expect(lstatSync(socket).isSocket()).toBe(true)
  }
  const age = (path: string): void => utimesSync(path, 1000, 1000)

  verifies('one-owner', 'what may be of one that is just coming up stays, and so does its lock, whatever its age', async () => {
    const socket = join(root, 'tmux', 'sock')
    leave(socket)
    writeFileSync(`${socket}.lock`, '')
    age(`${socket}.lock`)
    // Bound, and not yet listening: the kernel refuses who comes then, too.
    expect(await leftoverAt(socket, uid, Date.now())).toBeNull()
    expect(await removeLeftover(socket, uid, Date.now())).not.toBeNull()
    expect(existsSync(socket)).toBe(true)
    age(socket)
    expect(await leftoverAt(socket, uid, Date.now())).toBe(socket)
    expect(await removeLeftover(socket, uid, Date.now())).toBeNull()
    expect([existsSync(socket), existsSync(`${socket}.lock`)]).toEqual([false, true])
    expect(await leftoverAt(socket, uid, Date.now())).toBeNull()
  })
  test('outside of the home its folder goes too, once it is old and empty', async () => {
    const socket = socketOf(join(root, 'h'.repeat(100)), uid)
    const folder = dirname(socket)
    leave(socket)
    try {
      writeFileSync(`${socket}.lock`, '')
      for (const path of [socket, folder]) age(path)
      expect(await removeLeftover(socket, uid, Date.now())).toBeNull()
      expect([existsSync(socket), existsSync(folder)]).toEqual([false, true])
      age(folder)
      // A lock without a socket: somebody may be about to make one.
      expect(await leftoverAt(socket, uid, Date.now())).toBeNull()
      rmSync(`${socket}.lock`)
      expect(await leftoverAt(socket, uid, Date.now())).toBeNull()
      age(folder)
      expect(await leftoverAt(socket, uid, Date.now())).toBe(folder)
      expect(await removeLeftover(socket, uid, Date.now())).toBeNull()
      expect(existsSync(folder)).toBe(false)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
  test('one that is heard is no leftover, however old', async () => {
    const socket = join(root, 'tmux', 'sock')
    makePrivate(socket, uid)
    const server = createServer().listen(socket)
    await new Promise((ready) => server.once('listening', ready))
    age(socket)
    expect(await leftoverAt(socket, uid, Date.now())).toBeNull()
    await new Promise((closed) => server.close(closed))
  })
})

verifies('gate', 'what a pane reads before it is opened is nothing, and before it is closed no word', async () => {
  const gate = makeGate(root, process.env)
  expect(lstatSync(gate.path).mode & 0o777).toBe(0o600)
  expect(gate.isTaken()).toBe(false)
  const fd = openSync(gate.path, constants.O_RDONLY | constants.O_NONBLOCK)
  const buffer = Buffer.alloc(4096)
  expect(() => readSync(fd, buffer)).toThrow('EAGAIN')
  await gate.open({ A: "it's\ntwo", TMUX: 'x', TERM: 'y', 'no-name': 'z', IFS: 'q', PATH: '/bin' })
  const text = buffer.toString('utf8', 0, readSync(fd, buffer))
  expect(text.split('\n').slice(1)).toEqual([`command export A='it'\\''s'"$hf_newline"'two'`, `command export PATH='/bin'`, 'go', ''])
  expect(readSync(fd, buffer)).toBe(0)
  closeSync(fd)
  expect(existsSync(gate.path)).toBe(false)
  const shut = makeGate(root, process.env)
  const other = openSync(shut.path, constants.O_RDONLY | constants.O_NONBLOCK)
  shut.close()
  expect(readSync(other, buffer)).toBe(0)
  closeSync(other)
})

verifies('gate', 'one that could not be opened is closed, and no word came through it', async () => {
  const gate = makeGate(root, process.env)
  const fd = openSync(gate.path, constants.O_RDONLY | constants.O_NONBLOCK)
  const clock = vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(Number.MAX_SAFE_INTEGER)
  // More than a pipe holds, and nobody reads it.
  await expect(gate.open({ A: 'x'.repeat(1_000_000) })).rejects.toThrow('EAGAIN')
  clock.mockRestore()
  expect(existsSync(gate.path)).toBe(false)
  const read = Buffer.alloc(1_000_000)
  for (let size = 0; ; ) {
    const more = readSync(fd, read, size, read.length - size, null)
    if (more === 0) {
      expect(read.toString('utf8', 0, size)).not.toContain('go\n')
      break
    }
    size += more
  }
  closeSync(fd)
})
