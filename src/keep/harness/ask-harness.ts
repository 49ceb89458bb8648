import { spawn } from 'node:child_process'
import type { Asking, Environment } from '../../model/index.ts'
import { callRemote } from './json-rpc.ts'

/** Asks a harness its own way, with the environment of what it shall end. Whatever comes of it is looked at, not believed. */
export function ask(asking: Asking, env: Environment, ms: number): Promise<void> {
  return asking.kind === 'command' ? runCommand(asking.command, env, ms) : callRemote(asking.socket, asking.calls, ms).catch(() => {})
}

function runCommand([program = '', ...argv]: readonly string[], env: Environment, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(program, argv, { cwd: '/', env: { ...env }, stdio: 'ignore', timeout: ms, killSignal: 'SIGKILL' })
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
}
