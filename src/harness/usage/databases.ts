import { join } from 'node:path'
import type { Environment, UsageRule } from '../../model/index.ts'
import { countOf, fromParts, fromWhole } from './fields.ts'
import { folderOf } from './regular.ts'

const dataOf = (env: Environment): string => folderOf(env, 'XDG_DATA_HOME', '.local', 'share')

/** The totals of a session, and of those that its agents had. Reasoning is told beside the output. */
const opencodeLike = (name: string): UsageRule => ({
  kind: 'database',
  tellsCost: true,
  path: (env) => join(dataOf(env), name, `${name}.db`),
  sql: `WITH RECURSIVE tree(id) AS (SELECT ? UNION SELECT session.id FROM session JOIN tree ON session.parent_id = tree.id)
    SELECT cost, tokens_input, tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write FROM session JOIN tree USING (id)`,
  read: (row) =>
    fromParts({
      input: row['tokens_input'],
      output: countOf(row['tokens_output']) + countOf(row['tokens_reasoning']),
      cacheRead: row['tokens_cache_read'],
      cacheWrite: row['tokens_cache_write'],
      cost: row['cost'],
    }),
})

export const opencodeUsage: UsageRule = opencodeLike('opencode')
export const kiloUsage: UsageRule = opencodeLike('kilo')

/** All columns, since older versions have fewer. */
export const gooseUsage: UsageRule = {
  kind: 'database',
  tellsCost: true,
  path: (env) => join(env['GOOSE_PATH_ROOT'] ? join(env['GOOSE_PATH_ROOT'], 'data') : join(dataOf(env), 'goose'), 'sessions', 'sessions.db'),
  sql: 'SELECT * FROM sessions WHERE id = ?',
  read: (row) =>
    fromWhole({
      input: row['accumulated_input_tokens'],
      output: row['accumulated_output_tokens'],
      cacheRead: row['accumulated_cache_read_tokens'],
      cacheWrite: row['accumulated_cache_write_tokens'],
      cost: row['accumulated_cost'],
    }),
}
