import { spawnSync } from 'node:child_process'
import { copyFileSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Lab } from './lab.ts'

/** Copies the store as it is now; answers what puts that copy in its place again, as a restored backup would be. */
export function backUp(lab: Lab, change: string | null = null): () => void {
  const copy = join(lab.agentDir, `backup-${readdirSync(lab.agentDir).length}.db`)
  query(lab, `VACUUM INTO '${copy}'`)
  if (change !== null) elsewhere(copy, `db.exec(${JSON.stringify(change)})`)
  return () => putInPlace(lab, copy)
}

/** The new file comes by a rename: nobody ever finds half of it. `over`: it is written into the old one instead. */
export function putInPlace(lab: Lab, copy: string, over = false): void {
  const path = join(lab.home, 'holdfast.db')
  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
  const to = over ? path : `${path}.new`
  copyFileSync(copy, to)
  if (!over) renameSync(to, path)
}

const DRIVER = createRequire(import.meta.url).resolve('@photostructure/sqlite')

/**
 * In a process of its own: a connection is closed only with the last of its statements, as garbage, and the last one that is closed writes its WAL
 * over whatever was put in the place of the store meanwhile.
 */
function elsewhere(path: string, body: string): string {
  const script = `const db = new (require(${JSON.stringify(DRIVER)}).DatabaseSync)(${JSON.stringify(path)}); db.exec('PRAGMA busy_timeout = 60000'); ${body}`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8', timeout: 120_000 })
  if (status !== 0) throw new Error(`${body}: ${stderr}`)
  return stdout
}

/** Rows of the store, without any help of Holdfast. */
export const query = (lab: Lab, sql: string): Record<string, unknown>[] =>
  JSON.parse(elsewhere(join(lab.home, 'holdfast.db'), `console.log(JSON.stringify(db.prepare(${JSON.stringify(sql)}).all()))`)) as Record<
    string,
    unknown
  >[]
