import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { Environment } from '../../model/index.ts'
import { policy } from '../../model/index.ts'
import { sealed } from '../keeper/seal-descriptors.ts'

/** `late`: it did not answer in time, and was ended. */
export type Said = { readonly code: number | null; readonly stdout: string; readonly stderr: string; readonly late: boolean }

/** So much of what tmux says is read. */
const MAX_SAID = 8 * 1024 * 1024

/** One command of tmux to the server at this socket, which is never started by it. One that does not answer in time is ended, and has said nothing. */
export const tmux = (socket: string, args: readonly string[], env: Environment, input = ''): Promise<Said> =>
  run(['tmux', '-N', '-u', '-S', socket, ...args], env, input)

/**
 * In a session of its own, so that a Ctrl-C at the caller's terminal does not tear it in two; and no outer tmux may be taken for ours. Waited
 * for only so long, whatever becomes of it.
 */
export function run([program = '', ...args]: readonly string[], env: Environment, input = '', ms: number = policy.tmuxMs): Promise<Said> {
  return new Promise((resolve) => {
    const child = begin(program, args, env)
    if (child instanceof Error) return resolve(unsaid(child))
    // One that could not be started, for want of descriptors say, has no pipes.
    if (child.pid === undefined) return void child.once('error', (error) => resolve(unsaid(error)))
    const said = { stdout: collect(child.stdout), stderr: collect(child.stderr) }
    const finish = (code: number | null, why = '', late = false): void => {
      clearTimeout(timer)
      // Something that it left behind may hold them open.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
      resolve({ code, stdout: said.stdout(), stderr: why || said.stderr().trim(), late })
    }
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      finish(null, `${program} did not answer within ${ms / 1000} s`, true)
    }, ms)
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    child.once('error', (error) => finish(null, error.message))
    // What it said is read by then, or soon after; who works hard meanwhile reads late.
    child.once('exit', (code) => {
      const late = setTimeout(finish, policy.tmuxSaidMs, code)
      child.once('close', () => {
        clearTimeout(late)
        finish(code)
      })
    })
  })
}

const unsaid = ({ message }: Error): Said => ({ code: null, stdout: '', stderr: message, late: false })

function begin(program: string, args: readonly string[], env: Environment): ChildProcessWithoutNullStreams | Error {
  try {
    return sealed((more) =>
      spawn(program, args, {
        cwd: '/',
        detached: true,
        env: { ...env, TMUX: undefined, TMUX_PANE: undefined },
        stdio: ['pipe', 'pipe', 'pipe', ...more],
      }),
    ) as ChildProcessWithoutNullStreams
  } catch (error) {
    return error as Error
  }
}

function collect(stream: NonNullable<ChildProcess['stdout']>): () => string {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= MAX_SAID) chunks.push(chunk)
  })
  return () => Buffer.concat(chunks).toString('utf8')
}
