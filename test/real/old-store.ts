import { copyFileSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { loadSqlite } from '../../src/record/driver.ts'
import type { Lab } from './lab.ts'

/** Copies the store as it is now; answers what puts that copy in its place again, as a restored backup would be. */
export function backUp(lab: Lab, change: string | null = null): () => void {
  const copy = join(lab.agentDir, `backup-${readdirSync(lab.agentDir).length}.db`)
  query(lab, `VACUUM INTO '${copy}'`)
  if (change !== null) inDatabase(copy, (db) => db.exec(change))
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

type Database = InstanceType<ReturnType<typeof loadSqlite>['DatabaseSync']>

function inDatabase<T>(path: string, body: (db: Database) => T): T {
  const db = new (loadSqlite().DatabaseSync)(path)
  try {
    return body(db)
  } finally {
    db.close()
  }
}

/** Rows of the store, without any help of Holdfast. */
export const query = (lab: Lab, sql: string): Record<string, unknown>[] =>
  inDatabase(join(lab.home, 'holdfast.db'), (db) => {
    db.exec('PRAGMA busy_timeout = 5000')
    return db.prepare(sql).all()
  })
