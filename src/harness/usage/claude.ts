import { join } from 'node:path'
import type { Environment, LinesRule, UsageLine } from '../../model/index.ts'
import { below, countOf, fieldsOf, fromParts, textOr, timeOf } from './fields.ts'
import { anything, endsIn, entriesLike, folderOf, isFile, isName } from './regular.ts'

/** Agents of agents lie in folders below. */
const MAX_DEPTH = 3

/**
 * One answer is written as several lines, one for each part of it, with the same message id.
 * Its agents write to files of their own beside the session's; what the session's own file says of them repeats those.
 */
export const claudeUsage: LinesRule = {
  kind: 'lines',
  files: (env, id, which) =>
    projectsWith(env, id).flatMap((project) => [
      join(project, `${id}.jsonl`),
      ...(which === 'own' ? [] : agentFiles(join(project, id, 'subagents'), MAX_DEPTH)),
    ]),
  words: ['"usage"', '"cost-state"'],
  remembers: 8,
  read: readLine,
}

const projectsWith = (env: Environment, id: string): string[] =>
  isName(id)
    ? entriesLike(join(folderOf(env, 'CLAUDE_CONFIG_DIR', '.claude'), 'projects'), anything).filter((project) => isFile(join(project, `${id}.jsonl`)))
    : []

function agentFiles(folder: string, depth: number): string[] {
  const folders = depth === 0 ? [] : entriesLike(folder, (name) => !name.includes('.'))
  return [...entriesLike(folder, endsIn('.jsonl')), ...folders.flatMap((inner) => agentFiles(inner, depth - 1))]
}

function readLine(line: unknown): UsageLine | null {
  const { type, timestamp, totalCostUSD, requestId } = fieldsOf(line)
  if (type === 'cost-state') return { kind: 'cost', total: countOf(totalCostUSD) }
  const message = below(line, 'message')
  if (type !== 'assistant' || message['usage'] === undefined) return null
  const usage = below(message, 'usage')
  const tokens = fromParts({
    input: usage['input_tokens'],
    output: usage['output_tokens'],
    cacheRead: usage['cache_read_input_tokens'],
    cacheWrite: usage['cache_creation_input_tokens'],
  })
  return { kind: 'burned', key: textOr(message['id']) ?? textOr(requestId), tokens, at: timeOf(timestamp) }
}
