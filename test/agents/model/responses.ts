import type { Answer, Tool } from './script.ts'
import { type Api, type Body, COST, freshId, hang, lastPrompt, openStream, sendEvent, sendJson, type Turn, textOf } from './talk.ts'

/** OpenAI Responses, as codex speaks it. */
export const responses: Api = {
  name: 'responses',
  takes: (path) => path.endsWith('/responses'),
  read: (body) => ({ ...lastPrompt((body['input'] ?? []).map(turnOf)), tools: flat(body['tools'] ?? []).map(toolOf) }),
  write: (out, { body, results }, answer) => {
    const usage = {
      input_tokens: COST.input + results,
      input_tokens_details: { cached_tokens: COST.cached },
      output_tokens: COST.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: COST.input + results + COST.output,
    }
    const response = {
      id: freshId('resp_'),
      object: 'response',
      created_at: Math.floor(Date.now() / 1000),
      model: body['model'],
      output: [],
      tools: [],
    }
    const item = itemOf(answer, body)
    const completed = { ...response, status: 'completed', output: [item], usage }
    if (body['stream'] !== true) return sendJson(out, 200, completed)
    let number = 0
    const send = (type: string, data: Body): void => sendEvent(out, type, { type, sequence_number: number++, ...data })
    openStream(out)
    send('response.created', { response: { ...response, status: 'in_progress' } })
    if (answer.kind === 'hang') return hang(out)
    stream(send, item, answer)
    send('response.completed', { response: completed })
    out.end()
  },
  id: (headers) => (headers['thread-id'] ?? headers['session_id'] ?? headers['session-id'])?.toString() ?? null,
}

function turnOf(item: Body): Turn {
  if (String(item['type']).endsWith('_output')) return { text: '', results: 1, told: textOf(item['output']) }
  return { text: item['role'] === 'user' ? textOf(item['content']) : '', results: 0 }
}

const flat = (tools: readonly Body[]): Body[] =>
  tools.flatMap((tool) => (tool['type'] === 'namespace' ? flat(tool['tools']).map((inner) => ({ ...inner, namespace: tool['name'] })) : [tool]))

const toolOf = ({ type, name, parameters }: Body): Tool => ({
  name: name ?? type,
  schema: parameters ?? null,
  form: type === 'local_shell' ? 'local_shell' : type === 'custom' ? 'freeform' : 'function',
})

function itemOf(answer: Answer, body: Body): Body {
  if (answer.kind !== 'call') {
    const text = answer.kind === 'say' ? answer.text : ''
    return { type: 'message', id: freshId('msg_'), role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] }
  }
  const { tool, args, command } = answer
  const call = { call_id: freshId('call_'), status: 'completed' }
  if (tool.form === 'local_shell')
    return { ...call, type: 'local_shell_call', id: freshId('lsh_'), action: { type: 'exec', command: ['bash', '-lc', command], env: {} } }
  if (tool.form === 'freeform') {
    const input = `const r = await tools.exec_command({cmd: ${JSON.stringify(command)}}); text(r);`
    return { ...call, type: 'custom_tool_call', id: freshId('ctc_'), name: tool.name, input }
  }
  const namespace = flat(body['tools']).find(({ name }) => name === tool.name)?.['namespace']
  const within = namespace === undefined ? {} : { namespace }
  return { ...call, ...within, type: 'function_call', id: freshId('fc_'), name: tool.name, arguments: JSON.stringify(args) }
}

function stream(send: (type: string, data: Body) => void, item: Body, answer: Exclude<Answer, { kind: 'hang' }>): void {
  const at = { item_id: item['id'], output_index: 0 }
  const empty = answer.kind === 'say' ? { content: [] } : item['arguments'] === undefined ? {} : { arguments: '' }
  send('response.output_item.added', { output_index: 0, item: { ...item, ...empty, status: 'in_progress' } })
  if (answer.kind === 'say') send('response.output_text.delta', { ...at, content_index: 0, delta: answer.text })
  else if (item['arguments'] !== undefined) send('response.function_call_arguments.done', { ...at, arguments: item['arguments'] })
  send('response.output_item.done', { output_index: 0, item })
}
