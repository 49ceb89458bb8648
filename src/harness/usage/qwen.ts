import { join } from 'node:path'
import type { LinesRule } from '../../model/index.ts'
import { below, countOf, fromWhole, textOr, timeOf } from './fields.ts'
import { anything, entriesLike, folderOf, isFile, isName } from './regular.ts'

/**
 * What it tells of every answer, those included that it asks for by itself (its memory, its agents): `usageMetadata` of a message has only
 * those of the conversation. With some providers thoughts are inside the output, with others beside it, so the total decides.
 */
export const qwenUsage: LinesRule = {
  kind: 'lines',
  files: (env, id) =>
    isName(id)
      ? entriesLike(join(env['QWEN_RUNTIME_DIR'] || folderOf(env, 'QWEN_HOME', '.qwen'), 'projects'), anything)
          .map((project) => join(project, 'chats', `${id}.jsonl`))
          .filter(isFile)
      : [],
  words: ['"qwen-code.api_response"'],
  remembers: 8,
  read: (line) => {
    const event = below(line, 'systemPayload', 'uiEvent')
    if (event['event.name'] !== 'qwen-code.api_response') return null
    const input = countOf(event['input_token_count'])
    const output = Math.max(countOf(event['output_token_count']), countOf(event['total_token_count']) - input)
    const tokens = fromWhole({ input, output, cacheRead: event['cached_content_token_count'] })
    return { kind: 'burned', key: textOr(event['response_id']), tokens, at: timeOf(event['event.timestamp']) }
  },
}
