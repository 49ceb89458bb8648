import { statSync } from 'node:fs'
import type { Environment, ReadDatabase, Tokens, UsageCursor, UsageRule } from '../../model/index.ts'
import { addTokens, highestTokens, NO_TOKENS, tokensBeyond } from '../../model/index.ts'
import { bytesAt, isFile, withFile } from './regular.ts'

type Totals = Extract<UsageCursor, { kind: 'totals' }>
type TotalsRule = Exclude<UsageRule, { kind: 'lines' }>
type Read = { readonly tokens: Tokens; readonly cursor: Totals }
type At = { readonly env: Environment; readonly id: string }

const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024

/** What was burned beyond the totals of the beginning. Totals that fall take nothing back. */
export function readTotals(rule: TotalsRule, at: At, cursor: Totals | null, readDatabase: ReadDatabase): Read | null {
  return readNow(rule, at, filesOf(rule, at, 'all'), cursor, readDatabase)
}

/** The same, but what looks as it did is not read again. */
export function glanceTotals(rule: TotalsRule, at: At, cursor: Totals | null, readDatabase: ReadDatabase): Read | null {
  const known = Object.entries(cursor?.seen ?? {})
  if (cursor !== null && known.length > 0 && known.every(([path, look]) => lookOf(path) === look)) return { tokens: cursor.tokens, cursor }
  return readNow(rule, at, known.length > 0 ? known.map(([path]) => path) : filesOf(rule, at, 'own'), cursor, readDatabase)
}

function readNow(rule: TotalsRule, at: At, files: readonly string[], cursor: Totals | null, readDatabase: ReadDatabase): Read | null {
  const seen = Object.fromEntries(files.map((path) => [path, lookOf(path)]))
  const now = totalsNow(rule, at, files, readDatabase)
  if (now === null || now === 'none') return null
  const base = cursor === null ? NO_TOKENS : (cursor.base ?? now)
  const tokens = highestTokens(cursor?.tokens ?? NO_TOKENS, tokensBeyond(now, base))
  return { tokens, cursor: { kind: 'totals', base, tokens, seen } }
}

/** A session that is not there has burned nothing; one that cannot be read, nobody knows what. */
export function baselineTotals(rule: TotalsRule, at: At, readDatabase: ReadDatabase): Totals {
  const now = totalsNow(rule, at, filesOf(rule, at, 'all'), readDatabase)
  return { kind: 'totals', base: now === 'none' ? NO_TOKENS : now, tokens: NO_TOKENS, seen: {} }
}

/** One that began with the run: all of it counts. */
export const freshTotals = (): Totals => ({ kind: 'totals', base: NO_TOKENS, tokens: NO_TOKENS, seen: {} })

const filesOf = (rule: TotalsRule, { env, id }: At, which: 'own' | 'all'): readonly string[] =>
  rule.kind === 'database' ? [rule.path(env), `${rule.path(env)}-wal`] : rule.files(env, id, which)

function lookOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? 'none' : `${stats.size} ${stats.mtimeMs}`
}

/** `none`: there is no such session; null: it cannot be told. */
function totalsNow(rule: TotalsRule, at: At, files: readonly string[], readDatabase: ReadDatabase): Tokens | 'none' | null {
  const parts = rule.kind === 'document' ? documentsOf(rule, files) : rowsOf(rule, at, readDatabase)
  if (parts === null || parts.length === 0) return parts === null ? null : 'none'
  return parts.reduce<Tokens | null>((sum, part) => (sum === null || part === null ? null : addTokens(sum, part)), NO_TOKENS)
}

const documentsOf = (rule: Extract<UsageRule, { kind: 'document' }>, files: readonly string[]): (Tokens | null)[] =>
  files.map((path) =>
    withFile(path, (fd, size) => {
      const text = (): string => bytesAt(fd, Math.max(0, size - MAX_DOCUMENT_BYTES), size).toString('utf8')
      if (rule.text !== undefined) return rule.text(path, text())
      return size <= MAX_DOCUMENT_BYTES ? rule.read(JSON.parse(text())) : null
    }),
  )

function rowsOf(rule: Extract<UsageRule, { kind: 'database' }>, { env, id }: At, readDatabase: ReadDatabase): (Tokens | null)[] | null {
  const path = rule.path(env)
  return isFile(path) ? (readDatabase(path, rule.sql, [id])?.map(rule.read) ?? null) : []
}
