import type { Answer, Schema } from './script.ts'
import { type Api, type Body, COST, freshId, hang, lastPrompt, openStream, sendEvent, sendJson, textOf } from './talk.ts'

/** Gemini. The method is the last word of the path: `…/models/M:streamGenerateContent`. */
export const gemini: Api = {
  name: 'gemini',
  takes: (path) => /models\/[^:]+:\w+/.test(path),
  read: (body) => ({
    ...lastPrompt((body['contents'] ?? []).filter(({ role }: Body) => role !== 'model').map(turnOf)),
    // Where only JSON is wanted, the harness asks about itself.
    tools: wantsJson(body)
      ? []
      : (body['tools'] ?? [])
          .flatMap((tool: Body) => tool['functionDeclarations'] ?? [])
          .map((tool: Body) => ({ name: tool['name'], schema: tool['parametersJsonSchema'] ?? tool['parameters'], form: 'function' })),
  }),
  write: (out, { body, path, results }, answer) => {
    const method = path.slice(path.lastIndexOf(':') + 1)
    if (method === 'countTokens') return sendJson(out, 200, { totalTokens: COST.input })
    const usageMetadata = {
      promptTokenCount: COST.input + results,
      candidatesTokenCount: COST.output,
      totalTokenCount: COST.input + results + COST.output,
      cachedContentTokenCount: COST.cached,
    }
    const content = { role: 'model', parts: [wantsJson(body) ? { text: jsonFor(body) } : partOf(answer)] }
    const whole = { candidates: [{ index: 0, content, finishReason: 'STOP' }], usageMetadata, responseId: freshId('r') }
    if (method !== 'streamGenerateContent') return sendJson(out, 200, whole)
    openStream(out)
    if (answer.kind === 'hang') return hang(out)
    sendEvent(out, null, whole)
    out.end()
  },
  id: () => null,
}

function turnOf({ parts }: Body): { text: string; results: number } {
  return { text: textOf(parts), results: (parts ?? []).filter((part: Body) => part['functionResponse']).length }
}

const partOf = (answer: Answer): Body =>
  answer.kind === 'call'
    ? { functionCall: { name: answer.tool.name, args: answer.args, id: freshId('fc') } }
    : { text: answer.kind === 'say' ? answer.text : '' }

const wantsJson = ({ generationConfig: wanted }: Body): boolean =>
  wanted?.responseJsonSchema !== undefined || wanted?.responseSchema !== undefined || wanted?.responseMimeType === 'application/json'

/** Something of the schema's own: the harness asks which model to take, and whether it is done. */
function jsonFor({ generationConfig: wanted }: Body): string {
  const properties: Readonly<Record<string, Schema>> = (wanted.responseJsonSchema ?? wanted.responseSchema)?.properties ?? {}
  const filler = { number: 50, integer: 50, boolean: false, array: [] }
  const values = Object.entries(properties).map(([name, { type, enum: choices }]) => [
    name,
    name === 'model_choice' ? 'flash' : (choices?.[0] ?? filler[String(type).toLowerCase() as keyof typeof filler] ?? 'filler'),
  ])
  return JSON.stringify(Object.fromEntries(values))
}
