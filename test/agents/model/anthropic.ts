import type { ServerResponse } from 'node:http'
import type { Answer } from './script.ts'
import { type Api, type Body, COST, freshId, hang, lastPrompt, openStream, sendEvent, sendJson, type Turn, textOf } from './talk.ts'

/** Anthropic Messages. */
export const anthropic: Api = {
  name: 'anthropic',
  takes: (path) => path.endsWith('/messages'),
  read: (body) => ({
    ...lastPrompt((body['messages'] ?? []).filter(({ role }: Body) => role === 'user').map(turnOf)),
    tools: (body['tools'] ?? [])
      .filter((tool: Body) => tool['input_schema'])
      .map((tool: Body) => ({ name: tool['name'], schema: tool['input_schema'], form: 'function' })),
  }),
  write: (out, { body, results }, answer) => {
    const usage = {
      input_tokens: COST.input + results,
      cache_creation_input_tokens: 10,
      cache_read_input_tokens: COST.cached,
      output_tokens: COST.output,
    }
    const message = { id: freshId('msg_'), type: 'message', role: 'assistant', model: body['model'], content: [], stop_reason: null, usage }
    const stop = { stop_reason: answer.kind === 'call' ? 'tool_use' : 'end_turn', stop_sequence: null }
    if (body['stream'] !== true) return sendJson(out, 200, { ...message, content: [{ ...block(answer), ...whole(answer) }], ...stop })
    openStream(out)
    sendEvent(out, 'message_start', { type: 'message_start', message })
    if (answer.kind === 'hang') return hang(out)
    stream(out, answer)
    sendEvent(out, 'message_delta', { type: 'message_delta', delta: stop, usage })
    sendEvent(out, 'message_stop', { type: 'message_stop' })
    out.end()
  },
  id: (headers) => headers['x-claude-code-session-id']?.toString() ?? null,
}

function turnOf({ content }: Body): Turn {
  const blocks: readonly Body[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const texts = blocks.filter(
    ({ type, text }) => type === 'text' && !/^\s*<(system-reminder|command|local-command|task-notification|bash-)/.test(text),
  )
  const results = blocks.filter(({ type }) => type === 'tool_result')
  return { text: texts.map(({ text }) => text).join('\n'), results: results.length, told: textOf(results.at(-1)?.['content']) }
}

const block = (answer: Answer): Body =>
  answer.kind === 'call' ? { type: 'tool_use', id: freshId('toolu_'), name: answer.tool.name, input: {} } : { type: 'text', text: '' }
const whole = (answer: Answer): Body => (answer.kind === 'call' ? { input: answer.args } : { text: answer.kind === 'say' ? answer.text : '' })

function stream(out: ServerResponse, answer: Exclude<Answer, { kind: 'hang' }>): void {
  const delta =
    answer.kind === 'call' ? { type: 'input_json_delta', partial_json: JSON.stringify(answer.args) } : { type: 'text_delta', text: answer.text }
  sendEvent(out, 'content_block_start', { type: 'content_block_start', index: 0, content_block: block(answer) })
  sendEvent(out, 'content_block_delta', { type: 'content_block_delta', index: 0, delta })
  sendEvent(out, 'content_block_stop', { type: 'content_block_stop', index: 0 })
}
