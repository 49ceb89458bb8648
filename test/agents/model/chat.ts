import { type Api, type Body, COST, freshId, hang, lastPrompt, openStream, sendEvent, sendJson, type Turn, textOf } from './talk.ts'

/** OpenAI Chat Completions, as opencode and qwen speak it. */
export const chat: Api = {
  name: 'chat',
  takes: (path) => path.endsWith('/chat/completions'),
  read: (body) => ({
    ...lastPrompt((body['messages'] ?? []).map(turnOf)),
    tools: (body['tools'] ?? []).map((tool: Body) => ({ name: tool['function'].name, schema: tool['function'].parameters, form: 'function' })),
  }),
  write: (out, { body, results }, answer) => {
    const usage = {
      prompt_tokens: COST.input + results,
      completion_tokens: COST.output,
      total_tokens: COST.input + results + COST.output,
      prompt_tokens_details: { cached_tokens: COST.cached },
    }
    const base = { id: freshId('chatcmpl-'), created: Math.floor(Date.now() / 1000), model: body['model'] }
    const calls =
      answer.kind === 'call'
        ? [{ index: 0, id: freshId('call_'), type: 'function', function: { name: answer.tool.name, arguments: JSON.stringify(answer.args) } }]
        : undefined
    const message = { role: 'assistant', content: answer.kind === 'say' ? answer.text : null, ...(calls ? { tool_calls: calls } : {}) }
    const finish_reason = calls ? 'tool_calls' : 'stop'
    if (body['stream'] !== true)
      return sendJson(out, 200, { ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage })
    const send = (choices: readonly Body[], more: Body = {}): void =>
      sendEvent(out, null, { ...base, object: 'chat.completion.chunk', choices, ...more })
    openStream(out)
    if (answer.kind === 'hang') {
      send([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }])
      return hang(out)
    }
    send([{ index: 0, delta: message, finish_reason: null }])
    send([{ index: 0, delta: {}, finish_reason }])
    send([], { usage })
    out.end('data: [DONE]\n\n')
  },
  id: () => null,
}

function turnOf({ role, content }: Body): Turn {
  if (role === 'tool') return { text: '', results: 1, told: textOf(content) }
  return { text: role === 'user' ? textOf(content) : '', results: 0 }
}
