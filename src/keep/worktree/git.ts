import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Environment } from '../../model/index.ts'

const ASK_MS = 15_000
const MAX_OUTPUT_BYTES = 64_000_000
type Fault = Error & { readonly code?: unknown; readonly killed?: boolean; readonly stderr?: string }
export type Answer = { readonly kind: 'done'; readonly out: string } | { readonly kind: 'failed'; readonly code: unknown; readonly why: string }

/** The only place that starts git, for `looking.ts` and `acting.ts` alone: nothing of the caller's own repository comes along. */
export async function runGit(env: Environment, own: Environment, args: readonly string[], ms = ASK_MS): Promise<Answer> {
  const clean = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')))
  const options = { cwd: '/', env: { ...clean, ...own, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' }, maxBuffer: MAX_OUTPUT_BYTES, timeout: ms }
  try {
    const running = promisify(execFile)('git', ['--no-pager', ...args], options)
    running.child.stdin?.end()
    return { kind: 'done', out: (await running).stdout }
  } catch (error) {
    return { kind: 'failed', code: (error as Fault).code, why: sentence(error as Fault, ms) }
  }
}

/** No lock of the index is taken from who works there, and nothing is fetched, whatever a remote is called. */
export const STILL: Environment = { GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' }

/** Hooks and filters write to the same stream: git's own complaint is the line that says so. */
function sentence(fault: Fault, ms: number): string {
  if (fault.code === 'ENOENT') return 'there is no git program on the PATH'
  if (fault.killed === true) return `git took longer than ${ms / 1000} s`
  const lines = linesOf(fault.stderr ?? '')
  const line = lines.find((text) => /^(?:fatal|error): /.test(text)) ?? lines[0] ?? `git did not say why: ${linesOf(fault.message)[0]}`
  return line.replace(/^(?:fatal|error): /, '')
}

export const linesOf = (out: string): string[] => out.split('\n').filter((line) => line !== '')

export const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
