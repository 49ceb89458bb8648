import { join } from 'node:path'
import type { Environment, LinesRule, UsageLine } from '../../model/index.ts'
import { below, type Fields, fieldsOf, fromWhole, textOr, timeOf } from './fields.ts'
import { anything, bytesAt, entriesLike, folderOf, isName, withFile } from './regular.ts'

/** The session that an agent belongs to is among the first words of its file. */
const HEAD_BYTES = 1024
/** Of the files written since the session began, so many of the newest are looked at for its agents. */
const MAX_AGENTS = 500

/** A fork writes the lines of the other session anew, with the time of the copy, right after its own first line. No answer comes so soon. */
const COPIED_MS = 2_000

/**
 * What the last answer burned, told with the totals up to then. It is told more than once (again at the start of a turn, and in two kinds
 * of lines since 0.16x), with the same totals; they begin anew with a resume in old versions, so only the line before can be repeated.
 */
const codexLike = (home: (env: Environment) => string): LinesRule => ({
  kind: 'lines',
  files: (env, id, which) => rolloutsOf(home(env), id, which),
  words: ['"token_count"', '"token_usage_record"', '"forked_from_id"'],
  remembers: 1,
  read: readLine,
})

export const codexUsage: LinesRule = codexLike((env) => folderOf(env, 'CODEX_HOME', '.codex'))
export const codeUsage: LinesRule = codexLike((env) => env['CODE_HOME'] || folderOf(env, 'CODEX_HOME', '.code'))

/** The session's own file, and those of the agents that it started, which name it. Day folders sort by time. */
function rolloutsOf(home: string, id: string, which: 'own' | 'all'): string[] {
  if (!isName(id)) return []
  const days = [join(home, 'archived_sessions'), ...foldersBelow(join(home, 'sessions'), 3)]
  for (const [index, day] of days.toReversed().entries()) {
    const own = entriesLike(day, (name) => name.endsWith(`-${id}.jsonl`))[0]
    if (own === undefined) continue
    if (which === 'own') return [own]
    const later = days.slice(days.length - 1 - index).flatMap((folder) => entriesLike(folder, (name) => name.startsWith('rollout-')))
    return [own, ...later.slice(-MAX_AGENTS).filter((path) => path !== own && isAgentOf(path, id))]
  }
  return []
}

const foldersBelow = (folder: string, depth: number): string[] =>
  depth === 0
    ? [folder]
    : entriesLike(folder, anything)
        .sort()
        .flatMap((inner) => foldersBelow(inner, depth - 1))

const isAgentOf = (path: string, id: string): boolean =>
  withFile(path, (fd, size) => bytesAt(fd, 0, Math.min(size, HEAD_BYTES)).includes(`"session_id":"${id}"`)) ?? false

function readLine(line: unknown): UsageLine | null {
  const { type, timestamp } = fieldsOf(line)
  const payload = below(line, 'payload')
  if (type === 'session_meta') return textOr(payload['forked_from_id']) === null ? null : { kind: 'copied', until: timeOf(timestamp) + COPIED_MS }
  const told = type === 'token_usage_record' ? [payload['usage'], payload['thread_token_usage']] : countsOf(payload)
  const [burned, totals] = told.map(fieldsOf) as [Fields, Fields]
  if (typeof burned['input_tokens'] !== 'number') return null
  const tokens = fromWhole({
    input: burned['input_tokens'],
    output: burned['output_tokens'],
    cacheRead: burned['cached_input_tokens'],
    cacheWrite: burned['cache_write_input_tokens'],
  })
  return { kind: 'burned', key: keyOf(totals), tokens, at: timeOf(timestamp) }
}

const countsOf = (payload: Fields): [unknown, unknown] => {
  const info = payload['type'] === 'token_count' ? below(payload, 'info') : {}
  return [info['last_token_usage'], info['total_token_usage']]
}

const keyOf = (totals: Fields): string => [totals['input_tokens'], totals['cached_input_tokens'], totals['output_tokens']].join('/')
