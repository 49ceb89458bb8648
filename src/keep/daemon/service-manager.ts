import { spawn } from 'node:child_process'
import type { Environment } from '../../model/index.ts'
import { policy } from '../../model/index.ts'

/** The answer of systemctl or loginctl; or why there is none. */
export type Managed =
  | { readonly kind: 'answered'; readonly code: number; readonly out: string; readonly said: string }
  | { readonly kind: 'silent'; readonly why: string }

/** Waited for only so long, whatever becomes of it; of a long answer the beginning is read. */
export function askManager(program: string, args: readonly string[], env: Environment, ms: number = policy.managerMs): Promise<Managed> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: '/',
      env: { ...env, LC_ALL: 'C', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    // One that could not be started, for want of descriptors say, has no pipes.
    if (child.pid === undefined) return void child.once('error', (error: NodeJS.ErrnoException) => resolve(silent(program, error)))
    const texts = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (part: Buffer) => {
        texts[name] = (texts[name] + part.toString()).slice(0, policy.managerBytes)
      })
    const finish = (answer: Managed): void => {
      clearTimeout(timer)
      // Something that it left behind may hold them open.
      child.stdout.destroy()
      child.stderr.destroy()
      resolve(answer)
    }
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      finish({ kind: 'silent', why: `${program} did not answer within ${ms / 1000} s` })
    }, ms)
    child.once('error', (error) => finish(silent(program, error)))
    // What it said is read by then, or soon after.
    child.once('exit', (code, signal) => {
      const answered = (): void =>
        finish({
          kind: 'answered',
          code: code ?? (signal === null ? 1 : 128),
          out: texts.stdout,
          said: (texts.stderr.trim() || texts.stdout.trim()).split('\n')[0] ?? '',
        })
      const late = setTimeout(answered, policy.pollMaxMs)
      child.once('close', () => {
        clearTimeout(late)
        answered()
      })
    })
  })
}

const silent = (program: string, { code }: NodeJS.ErrnoException): Managed => ({
  kind: 'silent',
  why: code === 'ENOENT' ? `there is no ${program} on the PATH` : `${program} cannot be started (${code})`,
})
