import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { findProgram } from '../../lib/index.ts'
import type { Environment, Notification, Notifiers } from '../../model/index.ts'
import { policy } from '../../model/index.ts'

/** What each of them runs belongs to no run: it gets none of our variables but those it is told with. */
export function systemNotifiers(env: Environment, platform: string = process.platform): Notifiers {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('HOLDFAST_')))
  return {
    desktopTrouble: () => desktopTrouble(env, platform),
    desktop: ({ title, text }) => run(desktopCommand(title, text, platform), own, null),
    bell: ring,
    command: (argv, notification) =>
      run(argv, { ...own, HOLDFAST_EVENT: notification.kind, HOLDFAST_SESSION: notification.session ?? '' }, jsonOf(notification)),
  }
}

function desktopTrouble(env: Environment, platform: string): string | null {
  const program = platform === 'darwin' ? 'osascript' : 'notify-send'
  if (findProgram(program, '.', env['PATH']) === null) return `there is no ${program} program`
  const hasDesktop = platform === 'darwin' || ['DBUS_SESSION_BUS_ADDRESS', 'DISPLAY', 'WAYLAND_DISPLAY'].some((name) => (env[name] ?? '') !== '')
  return hasDesktop ? null : 'none of DBUS_SESSION_BUS_ADDRESS, DISPLAY and WAYLAND_DISPLAY is set here'
}

/** Words are arguments, and never part of a script; the body of a desktop's notification is markup, its title is not. */
function desktopCommand(title: string, text: string, platform: string): string[] {
  if (platform === 'darwin')
    return [
      'osascript',
      '-e',
      'on run argv',
      '-e',
      'display notification (item 2 of argv) with title (item 1 of argv)',
      '-e',
      'end run',
      '--',
      title,
      text,
    ]
  return ['notify-send', '--app-name=holdfast', '--', title, text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')]
}

const jsonOf = ({ at, ...notification }: Notification): string => `${JSON.stringify({ ...notification, at: new Date(at).toISOString() })}\n`

/** For so long at most, with all that it has started in its process group; what it says is nobody's. */
function run([program = '', ...argv]: readonly string[], env: Environment, input: string | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, { cwd: '/', env: { ...env }, stdio: [input === null ? 'ignore' : 'pipe', 'ignore', 'ignore'], detached: true })
    // Nobody waits for longer, whether or not it may be killed.
    const limit = setTimeout(() => {
      const what = killGroup(child) ? 'was killed' : 'could not be killed'
      reject(new Error(`${program} did not end within ${policy.notifyRunMs / 1000} s, and ${what}`))
    }, policy.notifyRunMs)
    child.once('error', (error) => {
      clearTimeout(limit)
      reject(new Error(`${program} could not be started: ${(error as NodeJS.ErrnoException).code ?? error.message}`))
    })
    child.once('exit', (code, signal) => {
      clearTimeout(limit)
      if (code === 0) resolve()
      else reject(new Error(`${program} ended with ${code === null ? signal : `code ${code}`}`))
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end(input ?? '')
  })
}

/** It is our own child and leads its group: before its end was seen, nobody else can have that number. */
function killGroup({ pid, exitCode, signalCode }: ChildProcess): boolean {
  if (pid === undefined || exitCode !== null || signalCode !== null) return false
  try {
    return process.kill(-pid, 'SIGKILL')
  } catch {
    // It runs as somebody else.
    return false
  }
}

/** Only a terminal, and only one of our own user's; one that is stopped (Ctrl-S) holds up nobody. */
function ring(tty: string): void {
  if (!/^\/dev\/(pts\/\d+|tty\w*)$/.test(tty)) return
  let fd: number
  try {
    fd = openSync(tty, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW)
  } catch {
    // It was closed meanwhile.
    return
  }
  try {
    if (isatty(fd) && fstatSync(fd).uid === process.geteuid?.()) writeSync(fd, '\u0007')
  } catch (error) {
    if (!['EAGAIN', 'EIO'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    closeSync(fd)
  }
}
