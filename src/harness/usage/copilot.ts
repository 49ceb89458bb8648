import { join } from 'node:path'
import type { LinesRule } from '../../model/index.ts'
import { below, fieldsOf, fromWhole, textOr, timeOf } from './fields.ts'
import { folderOf, isFile, isName } from './regular.ts'

/** Its `cost` is in premium requests, not in dollars. */
export const copilotUsage: LinesRule = {
  kind: 'lines',
  files: (env, id) => (isName(id) ? [join(folderOf(env, 'COPILOT_HOME', '.copilot'), 'session-state', id, 'events.jsonl')].filter(isFile) : []),
  words: ['"session.usage_record"'],
  remembers: 8,
  read: (line) => {
    const { type, id, timestamp } = fieldsOf(line)
    const usage = below(line, 'data', 'usage')
    if (type !== 'session.usage_record' || typeof usage['inputTokens'] !== 'number') return null
    const tokens = fromWhole({
      input: usage['inputTokens'],
      output: usage['outputTokens'],
      cacheRead: usage['cacheReadTokens'],
      cacheWrite: usage['cacheWriteTokens'],
    })
    return { kind: 'burned', key: textOr(below(usage, 'accounting')['usageId']) ?? textOr(id), tokens, at: timeOf(timestamp) }
  },
}
