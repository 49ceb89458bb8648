import { join } from 'node:path'
import type { LinesRule, UsageRule } from '../../model/index.ts'
import { below, fieldsOf, fromParts, fromWhole, textOr, timeOf } from './fields.ts'
import { anything, endsIn, entriesLike, folderOf, isFile, isName } from './regular.ts'

export const piUsage: LinesRule = {
  kind: 'lines',
  tellsCost: true,
  files: (env, id) =>
    projectsIn(id, folderOf(env, 'PI_CODING_AGENT_DIR', '.pi', 'agent')).flatMap((project) => entriesLike(project, endsIn(`_${id}.jsonl`))),
  words: ['"usage"'],
  remembers: 8,
  read: (line) => {
    const { type, id, timestamp } = fieldsOf(line)
    const usage = below(line, 'message', 'usage')
    if (type !== 'message' || typeof usage['input'] !== 'number') return null
    const { input, output, cacheRead, cacheWrite } = usage
    const tokens = fromParts({ input, output, cacheRead, cacheWrite, cost: below(usage, 'cost')['total'] })
    return { kind: 'burned', key: textOr(id), tokens, at: timeOf(timestamp) }
  },
}

/** Records have no id, and none is written twice. */
export const kimiUsage: LinesRule = {
  kind: 'lines',
  files: (env, id) =>
    projectsIn(id, folderOf(env, 'KIMI_CODE_HOME', '.kimi-code'))
      .flatMap((project) => entriesLike(join(project, id, 'agents'), anything))
      .map((agent) => join(agent, 'wire.jsonl'))
      .filter(isFile),
  words: ['"usage.record"'],
  remembers: 0,
  read: (line) => {
    const { type, time } = fieldsOf(line)
    const usage = below(line, 'usage')
    if (type !== 'usage.record' || typeof usage['inputOther'] !== 'number') return null
    const tokens = fromParts({
      input: usage['inputOther'],
      output: usage['output'],
      cacheRead: usage['inputCacheRead'],
      cacheWrite: usage['inputCacheCreation'],
    })
    return { kind: 'burned', key: null, tokens, at: timeOf(time) }
  },
}

/** The totals with those of its agents, where it tells them. */
export const droidUsage: UsageRule = {
  kind: 'document',
  files: (env, id) =>
    projectsIn(id, folderOf(env, null, '.factory'))
      .map((project) => join(project, `${id}.settings.json`))
      .filter(isFile),
  read: (document) => {
    const usage = { ...below(document, 'tokenUsage'), ...below(document, 'inclusiveTokenUsage') }
    if (typeof usage['inputTokens'] !== 'number') return null
    return fromParts({
      input: usage['inputTokens'],
      output: usage['outputTokens'],
      cacheRead: usage['cacheReadTokens'],
      cacheWrite: usage['cacheCreationTokens'],
    })
  },
}

export const clineUsage: UsageRule = {
  kind: 'document',
  files: (env, id) => (isName(id) ? [join(folderOf(env, null, '.cline'), 'data', 'sessions', id, `${id}.json`)].filter(isFile) : []),
  atTurnEnd: true,
  read: (document) => {
    const metadata = below(document, 'metadata')
    const usage = { ...below(metadata, 'usage'), ...below(metadata, 'aggregateUsage') }
    if (typeof usage['inputTokens'] !== 'number') return null
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, totalCost } = usage
    return fromWhole({ input: inputTokens, output: outputTokens, cacheRead: cacheReadTokens, cacheWrite: cacheWriteTokens, cost: totalCost })
  },
}

/** Sessions lie in a folder for each project. */
export const projectsIn = (id: string, home: string): string[] => (isName(id) ? entriesLike(join(home, 'sessions'), anything) : [])
