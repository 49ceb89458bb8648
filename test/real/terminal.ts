import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Lab } from './lab.ts'
import { until } from './lab.ts'

/** A real terminal: a tmux server of the lab's own, on a socket in its folder. */
export type Terminal = {
  type(keys: readonly string[]): void
  screen(): string
  /** The process that it began with. */
  pid(): number
  /** Whether it shows a second screen, reports the mouse, and shows its cursor: `0 0 1` as at a prompt. */
  modes(): string
  sees(text: string | RegExp): Promise<void>
  resize(columns: number, rows: number): void
  /** Closes the window, as a person would. */
  close(): void
}

export async function onTerminal(lab: Lab, command: readonly string[], body: (terminal: Terminal) => Promise<void>): Promise<void> {
  const socket = join(lab.home, '..', 'tmux')
  const tmux = (...args: string[]): string => {
    const result = spawnSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...lab.env, TERM: 'xterm-256color' },
      cwd: lab.dir,
    })
    if (result.status !== 0 && args[0] !== 'kill-server') throw new Error(`tmux ${args.join(' ')}: ${result.stderr || String(result.error)}`)
    return result.stdout
  }
  tmux('new-session', '-d', '-s', 'lab', '-x', '100', '-y', '30', ...command)
  const terminal: Terminal = {
    type: (keys) => void tmux('send-keys', '-t', '=lab:', ...keys),
    screen: () => tmux('capture-pane', '-p', '-t', '=lab:'),
    pid: () => Number(tmux('display-message', '-p', '-t', '=lab:', '#{pane_pid}')),
    modes: () => tmux('display-message', '-p', '-t', '=lab:', '#{alternate_on} #{mouse_any_flag} #{cursor_flag}').trim(),
    sees: async (text) => {
      let last = ''
      await until(`the screen to show ${text}; it shows:\n${last}`, () => {
        last = terminal.screen()
        return typeof text === 'string' ? last.includes(text) : text.test(last)
      }).catch((error: unknown) => {
        throw new Error(`${(error as Error).message}\n${last}`)
      })
    },
    resize: (columns, rows) => void tmux('resize-window', '-t', '=lab:', '-x', String(columns), '-y', String(rows)),
    close: () => void tmux('kill-session', '-t', '=lab'),
  }
  try {
    await body(terminal)
  } finally {
    tmux('kill-server')
  }
}
