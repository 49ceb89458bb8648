import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { COMMAND, type Lab, readOr, until } from './lab.ts'

/** A lab with stand-ins for claude that do, from inside their sessions, what they are told. */
export type Obedient = {
  readonly env: NodeJS.ProcessEnv
  /** Starts one detached, by its full command line. */
  begin(session: string, dir: string, ...options: readonly string[]): Promise<void>
  /** Has one run a line of sh; answers what that said. */
  tell(session: string, line: string): Promise<string>
  /** Has one call a hook, as its harness would in that conversation; answers what that said. */
  hook(session: string, event: string, native: string): Promise<string>
  /** Our own command, from inside a session. */
  inside(session: string, ...words: readonly string[]): Promise<string>
}

/** What a harness does at an event. */
export const hookLine = (event: string, native: string): string => `printf '{"session_id":"${native}"}' | sh "$FA_HOOK/hook.sh" claude ${event}`

export function obedient(lab: Lab): Obedient {
  const bin = join(lab.agentDir, 'bin')
  mkdirSync(bin)
  copyFileSync('test/fixtures/claude', join(bin, 'claude'))
  chmodSync(join(bin, 'claude'), 0o755)
  const config = join(lab.agentDir, 'config')
  mkdirSync(join(config, 'sessions'), { recursive: true })
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: lab.agentDir, CLAUDE_CONFIG_DIR: config, FA_HOOK: resolve('dist'), FA_DO: 'obey' }
  const tell = async (session: string, line: string): Promise<string> => {
    const said = join(lab.agentDir, `said.${session}`)
    rmSync(said, { force: true })
    writeFileSync(join(lab.agentDir, `obey.${session}`), `${line}; echo done\n`)
    const text = await until(`${session} to do ${line}`, () => readOr(said))
    return text.replace(/done\n$/, '')
  }
  return {
    env,
    begin: async (session, dir, ...options) => {
      spawnSync('mkfifo', [join(lab.agentDir, `obey.${session}`)])
      await lab.ok(['run', '--session', session, '--dir', dir, '--share', '--detach', '--', 'claude', ...options], { env })
    },
    tell,
    hook: (session, event, native) => tell(session, hookLine(event, native)),
    inside: (session, ...words) => tell(session, [COMMAND, ...words].join(' ')),
  }
}
