import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { openFile } from '../../lib/index.ts'
import type { Apart, Environment } from '../../model/index.ts'
import { sealed } from './seal-descriptors.ts'

/**
 * The shell leaves at once, so what it started is nobody's descendant when it begins; it also has its own session and marker, and is in no
 * run's cgroup: `$1` is the cgroup to go to first.
 */
const SCRIPT = '[ -z "$1" ] || echo 0 2>/dev/null >"$1/cgroup.procs"; shift; "$@" </dev/null >/dev/null 2>&1 & echo $!'

export function runOutside(command: readonly string[], env: Environment, marker: number | null, cgroup: string | null): Promise<number> {
  const marked = marker === null ? command : ['prlimit', `--rttime=${marker}:`, ...command]
  return new Promise((resolve, reject) => {
    const shell = spawn('/bin/sh', ['-c', SCRIPT, 'sh', cgroup ?? '', ...marked], {
      cwd: '/',
      detached: true,
      env: { ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    shell.once('error', reject)
    // One that could not be started, for want of descriptors say, has no pipe.
    if (shell.pid === undefined) return
    let pid = ''
    shell.stdout.on('data', (chunk: Buffer) => {
      pid += chunk.toString('latin1')
    })
    shell.once('close', () => resolve(Number(pid)))
  })
}

/** `$1` is the cgroup to go to first; then this very process becomes the command, so that it is known from its birth, and leads a session of its own. */
export const BECOME = '[ -z "$1" ] || echo 0 2>/dev/null >"$1/cgroup.procs"; shift; exec "$@"'

/** In a folder of its own, and with nothing of ours but a log that it appends to. */
export function runApart(
  command: readonly string[],
  { env, marker, cgroup, folder, log }: Apart,
): { readonly pid: number | null; readonly code: () => number | null; readonly trouble: () => string | null } {
  const marked = marker === null ? command : ['prlimit', `--rttime=${marker}:`, ...command]
  const output = openFile(log, 'append')
  let code: number | null = null
  let trouble: string | null = null
  try {
    const child = sealed(
      (more): ChildProcess =>
        spawn('/bin/sh', ['-c', BECOME, 'sh', cgroup ?? '', ...marked], {
          cwd: folder,
          detached: true,
          env: { ...env },
          stdio: ['ignore', output, output, ...more],
        }),
    )
    child.once('error', (error) => {
      trouble = error.message
    })
    child.once('exit', (status, signal) => {
      code = status ?? SIGNALLED
      if (signal !== null) trouble = `it was ended by ${signal}`
    })
    child.unref()
    return { pid: child.pid ?? null, code: () => code, trouble: () => trouble }
  } finally {
    closeSync(output)
  }
}

const SIGNALLED = 128
