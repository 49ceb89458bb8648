import { type ChildProcess, spawn } from 'node:child_process'
import type { Environment } from '../model/index.ts'
import { policy } from '../model/index.ts'

export type Said = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** So much of what tmux says is read. */
const MAX_SAID = 8 * 1024 * 1024

/** One command of tmux to the server at this socket. One that does not answer in time is ended, and has said nothing. */
export const tmux = (socket: string, args: readonly string[], env: Environment, input = ''): Promise<Said> =>
  run(['tmux', '-u', '-S', socket, ...args], env, input)

/** In a session of its own, so that a Ctrl-C at the caller's terminal does not tear it in two; and no outer tmux may be taken for ours. */
export function run([program = '', ...args]: readonly string[], env: Environment, input = ''): Promise<Said> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: '/',
      detached: true,
      env: { ...env, TMUX: undefined, TMUX_PANE: undefined },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: policy.tmuxMs,
      killSignal: 'SIGKILL',
    })
    const said = { stdout: collect(child.stdout), stderr: collect(child.stderr) }
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    child.once('error', (error) => resolve({ code: null, stdout: '', stderr: error.message }))
    child.once('close', (code) => resolve({ code, stdout: said.stdout(), stderr: said.stderr().trim() }))
  })
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
