import { spawnSync } from 'node:child_process'
import type { Environment } from '../../model/index.ts'

const HELP_MS = 5_000
const MAX_HELP = 1024 * 1024

/** What a program says when asked for help; empty: nothing. */
export function helpOf(program: string, env: Environment): string {
  const { stdout } = spawnSync(program, ['--help'], {
    cwd: '/',
    env: { ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: HELP_MS,
    maxBuffer: MAX_HELP,
  })
  return stdout ?? ''
}
