import { spawnSync } from 'node:child_process'
import { closeSync, constants, existsSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../../model/index.ts'
import { bytesOf, policy } from '../../model/index.ts'
import { isShellName, quote } from '../keeper/shell.ts'

/** A pipe in a run's directory that we hold open until its pane has taken it; our death closes it. */
export type PaneGate = {
  readonly path: string
  /** Has the pane taken hold of it? */
  isTaken(): boolean
  open(environment: Environment): Promise<void>
  close(): void
}

export function makeGate(folder: string, env: Environment): PaneGate {
  const path = join(folder, 'gate')
  const { status, stderr } = spawnSync('mkfifo', ['-m', '600', path], { encoding: 'utf8', env, timeout: policy.tmuxMs })
  if (status !== 0) throw new Error(`the gate ${path} could not be made: ${stderr}`)
  // Both ways: so it opens without anybody at the other end. Never waiting: a pane that is frozen must not hold us.
  let fd: number | null = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const close = (): void => {
    if (fd !== null) closeSync(fd)
    fd = null
    rmSync(path, { force: true })
  }
  return {
    path,
    isTaken: () => !existsSync(path),
    async open(environment) {
      try {
        await writeAll(() => fd, bytesOf(`${linesOf(environment).join('\n')}\ngo\n`))
      } finally {
        close()
      }
    },
    close,
  }
}

/** Those are the pane's own, or the shell's that reads this. */
const NOT_OURS = /^(TERM|TERM_PROGRAM|TERM_PROGRAM_VERSION|TMUX|TMUX_PANE|COLUMNS|LINES|IFS|PPID|OPTIND|LINENO|PWD|_|hf_.*)$/

/** What the server of all panes has of its own; whoever lacks one of them shall lack it in the pane too. */
export const SERVER_VARIABLES = ['HOME', 'PATH', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LC_MESSAGES', 'TZ']

/** One line each, whatever is in it; where a shell does not allow one (a read-only name), it goes on. */
function linesOf(environment: Environment): string[] {
  const given = Object.entries(environment).filter(([name, value]) => value !== undefined && isShellName(name) && !NOT_OURS.test(name))
  return [
    `unset ${[...SERVER_VARIABLES, 'HOLDFAST_HOME'].filter((name) => environment[name] === undefined).join(' ')}`,
    ...given.map(([name, value]) => `command export ${name}=${quote(value ?? '').replaceAll('\n', `'"$hf_newline"'`)}`),
  ]
}

async function writeAll(fd: () => number | null, bytes: Uint8Array): Promise<void> {
  const until = performance.now() + policy.launchMs
  for (let rest = bytes; rest.length > 0; ) {
    const to = fd()
    if (to === null) throw new Error('the gate was closed')
    try {
      rest = rest.subarray(writeSync(to, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() >= until) throw error
      await new Promise((next) => setTimeout(next, policy.pollMinMs))
    }
  }
}
