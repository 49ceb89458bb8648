import { lstatSync, type Stats, statSync } from 'node:fs'
import { kindOf } from '../lib/index.ts'

/** SQLite opens these by itself, and would wait for the other end of a pipe, or read through a link. */
const BESIDE = ['-wal', '-shm', '-journal'] as const

/** What of a database is no plain file, such as "holdfast.db-wal is a FIFO"; null: all that is there is. Links are followed to the database alone. */
export function otherThanDatabase(path: string): { readonly path: string; readonly why: string } | null {
  const found = [{ path, stats: seen(() => statSync(path, { throwIfNoEntry: false })) }]
  for (const end of BESIDE) found.push({ path: path + end, stats: seen(() => lstatSync(path + end, { throwIfNoEntry: false })) })
  for (const { path: at, stats } of found) {
    const why = typeof stats === 'string' ? stats : stats === undefined ? null : kindOf(stats)
    if (why !== null) return { path: at, why }
  }
  return null
}

function seen(look: () => Stats | undefined): Stats | string | undefined {
  try {
    return look()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ELOOP' ? 'is a link that leads to itself' : `cannot be looked at (${code})`
  }
}
