import { parseDocument } from 'yaml'
import { policy } from '../../model/index.ts'

const FENCE = '---'

/** The front matter of a Markdown file as plain data, or null, and the text below it. Throws with a sentence. */
export function parseFrontMatter(text: string): { readonly settings: unknown; readonly prompt: string } {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  if (lines[0]?.trimEnd() !== FENCE) return { settings: null, prompt: lines.join('\n') }
  const end = lines.findIndex((line, at) => at > 0 && line.trimEnd() === FENCE)
  if (end < 0) throw new Error('its front matter has no end: a line of three dashes is missing')
  return { settings: parseYaml(lines.slice(1, end).join('\n')), prompt: lines.slice(end + 1).join('\n') }
}

/** Aliases are bounded, so that a small file cannot grow without end. No tag makes anything but data. */
function parseYaml(text: string): unknown {
  const document = parseDocument(text, { schema: 'core', version: '1.2', merge: false, logLevel: 'error' })
  const [error] = document.errors
  if (error !== undefined) throw new Error(`its front matter is no YAML: ${error.message.split('\n')[0]}`)
  try {
    return document.toJS({ maxAliasCount: policy.yamlAliases }) as unknown
  } catch (fault) {
    throw new Error(`its front matter is no YAML: ${(fault as Error).message.split('\n')[0]}`, { cause: fault })
  }
}
