import { createRequire } from 'node:module'
import { Problem } from '../model/index.ts'

/** The part of the `node:sqlite` API that we use. */
export interface Statement {
  run(...values: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  get(...values: SqlValue[]): Row | undefined
  all(...values: SqlValue[]): Row[]
}
export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}
export type SqlValue = string | number | null
export type Row = Record<string, unknown>
type Module = { DatabaseSync: new (path: string, options?: { readOnly?: boolean; timeout?: number }) => Database }

/** Older ones can lose a transaction when a WAL is reset under a reader. */
const SAFE_SQLITE = [3, 51, 3] as const

/** The builtin where its SQLite is new enough, else the prebuilt package. */
export function loadSqlite(versions: NodeJS.ProcessVersions = process.versions): Module {
  const require = createRequire(import.meta.url)
  if (isSafe(versions['sqlite'])) return require('node:sqlite') as Module
  try {
    return require('@photostructure/sqlite') as Module
  } catch (error) {
    throw new Problem(
      'sqlite-missing',
      `no safe SQLite here: Node ${versions.node} has ${versions['sqlite'] ?? 'none'} and @photostructure/sqlite could not be loaded`,
      {
        hint: 'install the optional package @photostructure/sqlite, or use Node 24.15 or later',
        cause: error,
      },
    )
  }
}

export function isSafe(version: string | undefined): boolean {
  const parts = (version ?? '').split('.').map(Number)
  for (const [index, least] of SAFE_SQLITE.entries()) {
    const part = parts[index] ?? -1
    if (part !== least) return part > least
  }
  return true
}
