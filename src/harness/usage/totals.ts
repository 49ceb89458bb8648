import type { Environment, ReadDatabase, Tokens, UsageCursor, UsageRule } from '../../model/index.ts'
import { addTokens, highestTokens, NO_TOKENS, tokensBeyond } from '../../model/index.ts'
import { bytesAt, isFile, withFile } from './regular.ts'

type Totals = Extract<UsageCursor, { kind: 'totals' }>
type TotalsRule = Exclude<UsageRule, { kind: 'lines' }>
type At = { readonly env: Environment; readonly id: string }

const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024

/** What was burned beyond the totals of the beginning. Totals that fall take nothing back. */
export function readTotals(rule: TotalsRule, at: At, cursor: Totals | null, readDatabase: ReadDatabase): { tokens: Tokens; cursor: Totals } | null {
  const now = totalsNow(rule, at, readDatabase)
  if (now === null || now === 'none') return null
  const base = cursor === null ? NO_TOKENS : (cursor.base ?? now)
  const tokens = highestTokens(cursor?.tokens ?? NO_TOKENS, tokensBeyond(now, base))
  return { tokens, cursor: { kind: 'totals', base, tokens } }
}

/** A session that is not there has burned nothing; one that cannot be read, nobody knows what. */
export function baselineTotals(rule: TotalsRule, at: At, readDatabase: ReadDatabase): Totals {
  const now = totalsNow(rule, at, readDatabase)
  return { kind: 'totals', base: now === 'none' ? NO_TOKENS : now, tokens: NO_TOKENS }
}

/** `none`: there is no such session; null: it cannot be told. */
function totalsNow(rule: TotalsRule, at: At, readDatabase: ReadDatabase): Tokens | 'none' | null {
  const parts = rule.kind === 'document' ? documentsOf(rule, at) : rowsOf(rule, at, readDatabase)
  if (parts === null || parts.length === 0) return parts === null ? null : 'none'
  return parts.reduce<Tokens | null>((sum, part) => (sum === null || part === null ? null : addTokens(sum, part)), NO_TOKENS)
}

const documentsOf = (rule: Extract<UsageRule, { kind: 'document' }>, { env, id }: At): (Tokens | null)[] =>
  rule
    .files(env, id)
    .map((path) => withFile(path, (fd, size) => (size <= MAX_DOCUMENT_BYTES ? rule.read(JSON.parse(bytesAt(fd, 0, size).toString('utf8'))) : null)))

function rowsOf(rule: Extract<UsageRule, { kind: 'database' }>, { env, id }: At, readDatabase: ReadDatabase): (Tokens | null)[] | null {
  const path = rule.path(env)
  return isFile(path) ? (readDatabase(path, rule.sql, [id])?.map(rule.read) ?? null) : []
}
