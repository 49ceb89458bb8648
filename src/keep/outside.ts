import { spawn } from 'node:child_process'
import type { Environment } from '../model/index.ts'

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
    let pid = ''
    shell.stdout.on('data', (chunk: Buffer) => {
      pid += chunk.toString('latin1')
    })
    shell.once('error', reject)
    shell.once('close', () => resolve(Number(pid)))
  })
}
