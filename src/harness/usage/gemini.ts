import { join } from 'node:path'
import type { LinesRule } from '../../model/index.ts'
import { below, countOf, fieldsOf, fromWhole, textOr, timeOf } from './fields.ts'
import { anything, bytesAt, endsIn, entriesLike, folderOf, isName, withFile } from './regular.ts'

const HEAD_BYTES = 1024

/** A record is written again when its tool calls have ended. Thoughts are told beside the output, what tools add to the prompt beside the input. */
export const geminiUsage: LinesRule = {
  kind: 'lines',
  files: (env, id) =>
    isName(id)
      ? entriesLike(join(folderOf(env, 'GEMINI_CLI_HOME'), '.gemini', 'tmp'), anything).flatMap((project) => [
          ...entriesLike(join(project, 'chats'), endsIn(`-${id.slice(0, 8)}.jsonl`)).filter((path) => isOf(path, id)),
          ...entriesLike(join(project, 'chats', id), endsIn('.jsonl')),
        ])
      : [],
  words: ['"tokens"'],
  remembers: 8,
  read: (line) => {
    const { type, id, timestamp } = fieldsOf(line)
    const tokens = below(line, 'tokens')
    if (type !== 'gemini' || typeof tokens['input'] !== 'number') return null
    const burned = fromWhole({
      input: countOf(tokens['input']) + countOf(tokens['tool']),
      output: countOf(tokens['output']) + countOf(tokens['thoughts']),
      cacheRead: tokens['cached'],
    })
    return { kind: 'burned', key: textOr(id), tokens: burned, at: timeOf(timestamp) }
  },
}

/** The name has only a part of the id. */
const isOf = (path: string, id: string): boolean =>
  withFile(path, (fd, size) => bytesAt(fd, 0, Math.min(size, HEAD_BYTES)).includes(`"sessionId":"${id}"`)) ?? false
