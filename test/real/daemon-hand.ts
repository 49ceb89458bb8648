import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { realClock } from '../../src/app/index.ts'
import type { Run, Store } from '../../src/model/index.ts'
import { openSqliteStore } from '../../src/record/index.ts'
import { type Lab, TEST_COMMAND, until } from './lab.ts'

export type LabDaemon = {
  readonly child: ChildProcess
  readonly pid: number
  /** What it has said so far. */
  text(): string
  said(pattern: RegExp, ms?: number): Promise<RegExpExecArray>
  /** Resolves with the signal it died of, or null. */
  readonly exited: Promise<NodeJS.Signals | null>
  kill(signal?: NodeJS.Signals): Promise<void>
}

/** The daemon of a lab, with failpoints if there are any. (By hand: so it is one process, whose end is its own.) */
export function startDaemon(lab: Lab, { failpoints = '', env = {} }: { failpoints?: string; env?: NodeJS.ProcessEnv } = {}): LabDaemon {
  const child = spawn(TEST_COMMAND, ['daemon', 'run'], {
    cwd: '/',
    env: { ...lab.env, HOLDFAST_FAILPOINTS: failpoints, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let text = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const exited = new Promise<NodeJS.Signals | null>((done) => child.once('exit', (_, signal) => done(signal)))
  return {
    child,
    pid: child.pid ?? 0,
    text: () => text,
    said: (pattern, ms) => until(`the daemon to say ${pattern}; it said: ${text}`, () => pattern.exec(text), ms),
    exited,
    async kill(signal = 'SIGKILL') {
      child.kill(signal)
      await exited
    },
  }
}

/** With a daemon, whatever becomes of the scenario. */
export async function withDaemon<T>(lab: Lab, body: (daemon: LabDaemon) => Promise<T>): Promise<T> {
  const daemon = startDaemon(lab)
  try {
    await daemon.said(/adopted/)
    return await body(daemon)
  } finally {
    await daemon.kill()
  }
}

/** The store of a lab, as it is: verbs that show something look first, and record what they can prove. */
export async function withStore<T>(lab: Lab, body: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({
    path: join(lab.home, 'holdfast.db'),
    clock: realClock,
    patienceMs: 5000,
    writePatienceMs: 5000,
    backoff: () => 5,
  })
  try {
    return await body(store)
  } finally {
    store.close()
  }
}

export const rowOf = (lab: Lab, session: string): Promise<Run | null> =>
  withStore(lab, async (store) => {
    const found = await store.sessions.find(session, 'exact')
    return found.kind === 'found' ? found.view.run : null
  })

/** Changes a row behind everybody's back. */
export function execute(lab: Lab, sql: string): void {
  const require = createRequire(import.meta.url)
  const { DatabaseSync } = require('@photostructure/sqlite') as { DatabaseSync: new (path: string) => { exec(sql: string): void; close(): void } }
  const database = new DatabaseSync(join(lab.home, 'holdfast.db'))
  database.exec(`PRAGMA busy_timeout = 5000; ${sql}`)
  database.close()
}
