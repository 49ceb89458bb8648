import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { FileTrouble, readFile } from '../../lib/index.ts'
import { type Environment, policy, type SecretRef, type Secrets } from '../../model/index.ts'

/** Secrets are read at each use, so a changed one needs no restart. */
export function secretsOf(env: Environment): Secrets {
  return {
    read: async (ref) => {
      const text = 'file' in ref ? fromFile(ref.file) : 'env' in ref ? fromVariable(env, ref.env) : await fromCommand(env, ref.command)
      const secret = text.trim()
      // A header takes a single line of plain characters.
      if (!/^[\x21-\x7e]+$/.test(secret)) throw new Error(`${placeOf(ref)} holds no secret: it is empty, or has blanks or other characters in it`)
      return secret
    },
  }
}

const placeOf = (ref: SecretRef): string => ('file' in ref ? ref.file : 'env' in ref ? `the variable ${ref.env}` : `the output of ${ref.command[0]}`)

function fromFile(path: string): string {
  try {
    return readFile(path, policy.secretBytes, 'followed')
  } catch (error) {
    if (!(error instanceof FileTrouble)) throw error
    throw new Error(`${path} cannot be read for a secret: it ${error.why}`, { cause: error })
  }
}

function fromVariable(env: Environment, name: string): string {
  const value = env[name]
  if (value === undefined) throw new Error(`the variable ${name}, which holds a secret, is not set`)
  return value
}

/** A program's own complaint is not repeated: it may hold what it was asked for. */
async function fromCommand(env: Environment, [program = '', ...argv]: readonly string[]): Promise<string> {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('HOLDFAST_')))
  const running = promisify(execFile)(program, argv, {
    cwd: '/',
    env: own,
    timeout: policy.secretMs,
    maxBuffer: policy.secretBytes,
    killSignal: 'SIGKILL',
  })
  running.child.stdin?.end()
  try {
    return (await running).stdout
  } catch (error) {
    const { code, killed } = error as { readonly code?: unknown; readonly killed?: boolean }
    const why =
      killed === true ? `took longer than ${policy.secretMs / 1000} s` : code === 'ENOENT' ? 'is not on the PATH' : `failed (${String(code)})`
    throw new Error(`${program}, which tells a secret, ${why}`, { cause: new Error(String(code)) })
  }
}
