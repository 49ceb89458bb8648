import { join } from 'node:path'
import type { Tokens, UsageRule } from '../../model/index.ts'
import { addTokens, NO_TOKENS } from '../../model/index.ts'
import { below, countOf, fieldsOf, fromWhole } from './fields.ts'
import { projectsIn } from './others.ts'
import { folderOf, isFile } from './regular.ts'

/**
 * `usage.json` has the totals of all turns that are over. Of the turn under way `updates.jsonl` has what each call of the model used so far
 * (`totalTokens`, without saying of what kind), so that a limit holds while it works.
 */
export const grokUsage: UsageRule = {
  kind: 'document',
  files: (env, id) =>
    projectsIn(id, folderOf(env, 'GROK_HOME', '.grok'))
      .flatMap((project) => ['usage.json', 'updates.jsonl'].map((name) => join(project, id, name)))
      .filter(isFile),
  read: readTotals,
  text: (path, text) => (path.endsWith('usage.json') ? readTotals(JSON.parse(text)) : turnUnderWay(text)),
}

function readTotals(document: unknown): Tokens | null {
  const usage = below(document, 'session')
  if (typeof usage['inputTokens'] !== 'number') return null
  const { inputTokens, outputTokens, cachedReadTokens, cacheCreationTokens } = usage
  return fromWhole({ input: inputTokens, output: outputTokens, cacheRead: cachedReadTokens, cacheWrite: cacheCreationTokens })
}

const CALL = '"totalTokens"'
const TURN_OVER = '"turn_completed"'

/** Each call once, by when its answer began, with the highest number that it had. */
function turnUnderWay(text: string): Tokens {
  const over = text.lastIndexOf(TURN_OVER)
  const calls = new Map<unknown, number>()
  for (const line of (over < 0 ? text : text.slice(over)).split('\n').slice(over < 0 ? 0 : 1)) {
    const { streamStartMs, totalTokens } = line.includes(CALL) ? below(parsed(line), 'params', '_meta') : {}
    if (typeof streamStartMs === 'number') calls.set(streamStartMs, Math.max(calls.get(streamStartMs) ?? 0, countOf(totalTokens)))
  }
  return [...calls.values()].map((input) => ({ ...NO_TOKENS, input })).reduce(addTokens, NO_TOKENS)
}

/** The last line may be half written. */
function parsed(line: string): unknown {
  try {
    return fieldsOf(JSON.parse(line))
  } catch {
    return null
  }
}
