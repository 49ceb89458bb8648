import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect } from 'vitest'
import { gone, inLab, isAlive, type Lab, readOr, until } from './lab.ts'

export const TYPIST = ['node', resolve('test/fixtures/typist.mjs')]

/** Those of the shells that may be /bin/sh which are here. */
export const SHELLS = ['/bin/dash', '/bin/bash'].filter((shell) => existsSync(shell))

/** A command for which /bin/sh is this shell: in a mount namespace of its own, so what it hosts is on a server that no other command can host on. */
export const withShell = (shell: string, ...command: readonly string[]): string[] => [
  'unshare',
  process.geteuid?.() === 0 ? '-m' : '-Urm',
  'sh',
  '-c',
  'mount --bind "$0" "$1" && shift && exec "$@"',
  shell,
  realpathSync('/bin/sh'),
  ...command,
]

export type Hosted = Lab & {
  readonly socket: string
  /** The arguments that start a session in a pane. */
  hosted(session: string, ...argv: readonly string[]): string[]
  tmux(...args: readonly string[]): string
  /** The tmux server of this home; null: none runs. */
  server(): number | null
  screen(session: string): Promise<string>
  sees(session: string, text: string): Promise<void>
  type(session: string, ...keys: readonly string[]): Promise<void>
  tmuxOf(session: string): Promise<string>
  blocks(): string[]
}

/** A lab with sessions in panes; afterwards no server of it may be left. */
export const inHostedLab = (body: (lab: Hosted) => Promise<void>, home?: (lab: Lab) => string): Promise<void> =>
  inLab(async (plain) => {
    const lab = withPanes(plain, home?.(plain))
    try {
      await body(lab)
      await lab.hf(['stop', '--all', '--grace', '1s'])
      await until('the tmux server to leave with its last pane', () => lab.server() === null)
    } finally {
      const server = lab.server()
      if (server !== null) {
        await lab.hf(['stop', '--all', '--grace', '1s'])
        if (lab.server() === server) process.kill(server, 'SIGKILL')
        await gone(server)
      }
      if (!lab.socket.startsWith(plain.home)) rmSync(dirname(lab.socket), { recursive: true, force: true })
    }
  })

function withPanes(lab: Lab, socket = join(lab.home, 'tmux', 'sock')): Hosted {
  const tmux: Hosted['tmux'] = (...args) => {
    const { stdout, stderr, status } = spawnSync('tmux', ['-S', socket, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], TERM: 'xterm' },
      timeout: 120_000,
    })
    if (status !== 0) throw new Error(`tmux ${args.join(' ')}: ${stderr}`)
    return stdout
  }
  const tmuxOf: Hosted['tmuxOf'] = async (session) => {
    const { tmux: pane } = (await lab.status(session)) as unknown as { tmux: { session: string } | null }
    expect(pane, `${session} is in a pane`).not.toBeNull()
    return pane?.session ?? ''
  }
  const screen: Hosted['screen'] = (session) => lab.ok(['logs', session])
  return {
    ...lab,
    socket,
    tmux,
    tmuxOf,
    screen,
    hosted: (session, ...argv) => ['run', '--session', session, '--dir', lab.dir, '--share', '--tmux', '--detach', '--', ...argv],
    // By its own socket on its command line: nobody else's has that.
    server: () =>
      Number(
        readdirSync('/proc').find(
          (entry) =>
            /^\d+$/.test(entry) &&
            readOr(`/proc/${entry}/comm`).startsWith('tmux: server') &&
            readOr(`/proc/${entry}/cmdline`).includes(`${socket}\0`) &&
            isAlive(Number(entry)),
        ) ?? 0,
      ) || null,
    sees: async (session, text) => {
      let last = ''
      const isShown = async (): Promise<boolean> => {
        last = (await lab.hf(['logs', session])).stdout
        return last.includes(text)
      }
      await until(`the pane of ${session} to show ${text}`, isShown).catch((error: unknown) => {
        throw new Error(`${(error as Error).message}; it shows:\n${last}`)
      })
    },
    type: async (session, ...keys) => void tmux('send-keys', '-t', `=${await tmuxOf(session)}:`, ...keys),
    blocks: () =>
      Buffer.from(readOr(join(lab.agentDir, 'blocks')), 'latin1')
        .toString()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as string),
  }
}
