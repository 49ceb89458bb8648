import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemNotifiers } from '../../src/keep/index.ts'
import type { Notification } from '../../src/model/index.ts'
import { gone } from '../real/lab.ts'

const root = mkdtempSync(join(tmpdir(), 'hf-notify-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const bin = join(root, 'bin')
mkdirSync(bin)
const said = join(root, 'said')
for (const name of ['notify-send', 'osascript'])
  writeFileSync(join(bin, name), `#!/bin/sh\nprintf '%s\\n' "$0" "$@" >'${said}'\nenv >>'${said}'\n`, { mode: 0o755 })
const PATH = `${bin}:${process.env['PATH']}`
const notification: Notification = {
  kind: 'input',
  session: 's',
  run: 'r1',
  seq: 7,
  at: 0,
  title: '--help $(id) <b>',
  text: '<b>a & b</b> `id` "x"',
}
const words = (): string[] => readFileSync(said, 'utf8').split('\n')

test('a desktop is there where its program and its address are', () => {
  const trouble = (env: Record<string, string>, platform = 'linux') => systemNotifiers(env, platform).desktopTrouble()
  expect(trouble({ PATH: '/nonexistent', DISPLAY: ':0' })).toBe('there is no notify-send program')
  expect(trouble({ PATH })).toMatch(/^none of DBUS_SESSION_BUS_ADDRESS, DISPLAY and WAYLAND_DISPLAY/)
  expect(trouble({ PATH, DISPLAY: '' })).not.toBeNull()
  for (const name of ['DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'WAYLAND_DISPLAY']) expect(trouble({ PATH, [name]: 'x' })).toBeNull()
  expect(trouble({ PATH }, 'darwin')).toBeNull()
})

test('words reach the desktop as words: no option, no markup, no script', async () => {
  await systemNotifiers({ PATH, DISPLAY: ':0', HOLDFAST_RUN: 'r9', HOLDFAST_COOKIE: 'secret' }, 'linux').desktop(notification)
  expect(words().slice(0, 5)).toEqual([
    join(bin, 'notify-send'),
    '--app-name=holdfast',
    '--',
    '--help $(id) <b>',
    '&lt;b&gt;a &amp; b&lt;/b&gt; `id` "x"',
  ])
  expect(readFileSync(said, 'utf8')).not.toMatch(/HOLDFAST_|secret/)
  await systemNotifiers({ PATH }, 'darwin').desktop(notification)
  expect(words().slice(7, 10)).toEqual(['--', notification.title, notification.text])
  expect(words().slice(0, 7).join(' ')).not.toContain('id')
})

test('a command gets it as JSON and in its environment, is waited for, and its failure has a sentence', async () => {
  const notifiers = systemNotifiers({ PATH, HOLDFAST_RUN: 'r9' })
  const script = `cat >'${said}'; echo "$HOLDFAST_EVENT $HOLDFAST_SESSION [$HOLDFAST_RUN]" >>'${said}'`
  await notifiers.command(['sh', '-c', script], notification)
  const [json = '', env] = words()
  expect(JSON.parse(json)).toEqual({
    kind: 'input',
    session: 's',
    run: 'r1',
    seq: 7,
    at: '1970-01-01T00:00:00.000Z',
    title: notification.title,
    text: notification.text,
  })
  expect(env).toBe('input s []')
  // One that does not read is no trouble.
  await notifiers.command(['true'], { ...notification, text: 'x'.repeat(1_000_000) })
  await expect(notifiers.command(['sh', '-c', 'exit 7'], notification)).rejects.toThrow('sh ended with code 7')
  await expect(notifiers.command(['sh', '-c', 'kill -9 $$'], notification)).rejects.toThrow('sh ended with SIGKILL')
  await expect(notifiers.command([join(root, 'none')], notification)).rejects.toThrow(/could not be started: ENOENT/)
})

test('a command that does not end is killed, with what it has started', async () => {
  const began = performance.now()
  const script = `sleep 600 & echo $! >'${said}'; wait; true`
  await expect(systemNotifiers({ PATH }).command(['sh', '-c', script], notification)).rejects.toThrow('sh did not end within 10 s, and was killed')
  expect(performance.now() - began).toBeLessThan(30_000)
  const child = Number(words()[0])
  expect(child).toBeGreaterThan(0)
  await gone(child)
}, 60_000)

test('a bell rings at a terminal, and nothing else is written to', async () => {
  const file = join(root, 'file')
  writeFileSync(file, 'x')
  const { bell } = systemNotifiers({})
  for (const path of [file, '/dev/null', '/dev/pts/999999', 'pipe:[1]', '']) bell(path)
  expect(readFileSync(file, 'utf8')).toBe('x')
  // A terminal of its own, whose other end says what came.
  const name = join(root, 'tty')
  const terminal = spawn('script', ['-qec', `tty >'${name}'; sleep 60`, '/dev/null'], { stdio: ['ignore', 'pipe', 'ignore'] })
  let came = ''
  terminal.stdout.on('data', (chunk: Buffer) => (came += chunk.toString('latin1')))
  try {
    await expect.poll(() => (existsSync(name) ? readFileSync(name, 'utf8') : ''), { timeout: 120_000 }).toMatch(/^\/dev\/pts\/\d+\n$/)
    bell(readFileSync(name, 'utf8').trim())
    await expect.poll(() => came, { timeout: 120_000 }).toBe('\u0007')
  } finally {
    // Its terminal goes with it, and so does what is inside.
    const ended = new Promise((done) => terminal.once('exit', done))
    terminal.kill('SIGTERM')
    await ended
  }
})
