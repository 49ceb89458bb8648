import { spawn } from 'node:child_process'
import type { Environment } from '../model/index.ts'

/** The shell leaves at once, so what it started is nobody's descendant when it begins; it also has its own session and marker. */
export function runOutside(command: readonly string[], env: Environment, marker: number | null): Promise<number> {
  const marked = marker === null ? command : ['prlimit', `--rttime=${marker}:`, ...command]
  return new Promise((resolve, reject) => {
    const shell = spawn('/bin/sh', ['-c', '"$@" </dev/null >/dev/null 2>&1 & echo $!', 'sh', ...marked], {
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
