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
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeGate } from '../../src/keep/pane-gate.ts'
import { makePrivate, socketOf } from '../../src/keep/tmux-place.ts'
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

verifies('gate', 'what a pane reads before it is opened is nothing, and before it is closed no word', async () => {
  const gate = makeGate(root)
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
  const shut = makeGate(root)
  const other = openSync(shut.path, constants.O_RDONLY | constants.O_NONBLOCK)
  shut.close()
  expect(readSync(other, buffer)).toBe(0)
  closeSync(other)
})

verifies('gate', 'one that could not be opened is closed, and no word came through it', async () => {
  const gate = makeGate(root)
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
