import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadSqlite } from '../../src/record/driver.ts'
import { gone, type Lab, readOr, startOf, until } from './lab.ts'

/** A program under an agent's name: what it does is no matter, what it is called is. */
export function program(lab: Lab, name: string, from = '/bin/sleep'): string {
  const folder = join(lab.agentDir, 'bin')
  mkdirSync(folder, { recursive: true })
  copyFileSync(from, join(folder, name))
  return join(folder, name)
}

/** Started by nobody but the test, and ended with it. */
export async function stranger(
  cwd: string,
  command: string,
  args: readonly string[],
  body: (child: ChildProcess & { pid: number }) => Promise<void>,
): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: 'ignore', detached: true, env: { PATH: process.env['PATH'] } })
  const pid = child.pid ?? 0
  await until(`${command} to be there`, () => readOr(`/proc/${pid}/cmdline`).startsWith(command))
  try {
    await body(child as ChildProcess & { pid: number })
  } finally {
    child.kill('SIGKILL')
    await gone(pid)
  }
}

/** Arguments with which a shell under an agent's name waits for ever, without a child, whatever else its command line says. */
export function saying(lab: Lab, ...words: readonly string[]): string[] {
  const pipe = join(lab.agentDir, 'never')
  spawnSync('mkfifo', [pipe])
  return ['-c', `read x <${pipe}`, ...words]
}

/** What Claude Code writes about one of its live processes. */
export function register(config: string, pid: number, sessionId: string, over: Readonly<Record<string, unknown>> = {}): void {
  mkdirSync(join(config, 'sessions'), { recursive: true })
  const procStart = startOf(pid)
  writeFileSync(join(config, 'sessions', `${pid}.json`), JSON.stringify({ pid, sessionId, cwd: '/w', procStart, kind: 'interactive', ...over }))
}

/** As it is on record once somebody knows which conversation a session carries. */
export function carries(lab: Lab, session: string, native: string): void {
  const db = new (loadSqlite().DatabaseSync)(join(lab.home, 'holdfast.db'))
  db.prepare(`UPDATE session SET harness = 'claude', native = ? WHERE id = ?`).run(native, session)
  db.close()
}
