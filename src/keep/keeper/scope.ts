import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../../model/index.ts'

/** How long the user's systemd may take to answer. */
const ANSWER_MS = 3000

/** systemd-run moves itself into the scope and then becomes the command: same pid, same environment, same streams. */
export const scopeCommand = (unit: string): string[] => [
  'systemd-run',
  '--user',
  '--scope',
  '--quiet',
  '--collect',
  '--property=Delegate=yes',
  `--unit=${unit}`,
  '--',
]

/** Asked by making one: a manager that is there may still not be able to. */
export function scopeTrouble(env: Environment): string | null {
  const runtime = env['XDG_RUNTIME_DIR']
  if (runtime === undefined || !existsSync(join(runtime, 'systemd', 'private'))) return 'no systemd of the user runs here'
  const { error, status } = spawnSync('systemd-run', [...scopeCommand(`holdfast-probe-${process.pid}.scope`).slice(1), 'true'], {
    env: { ...env },
    stdio: 'ignore',
    timeout: ANSWER_MS,
  })
  if (error !== undefined) return `systemd-run cannot be used (${(error as NodeJS.ErrnoException).code})`
  return status === 0 ? null : `systemd-run --user --scope failed (${status})`
}
