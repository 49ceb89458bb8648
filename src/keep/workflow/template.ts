import { Liquid } from 'liquidjs'
import { policy, type TemplateValues } from '../../model/index.ts'

/** Strict Liquid: an unknown variable or filter is an error. It reads no file, and its work is bounded. */
export function renderTemplate(template: string, values: TemplateValues): string {
  const engine = new Liquid({
    strictVariables: true,
    strictFilters: true,
    ownPropertyOnly: true,
    // Includes would read files, so the engine gets an empty map of templates.
    templates: {},
    parseLimit: policy.templateBytes,
    renderLimit: policy.templateMs,
    memoryLimit: policy.templateMemory,
  })
  try {
    return engine.parseAndRenderSync(template, values) as string
  } catch (error) {
    throw new Error(sentence(error as Error), { cause: error })
  }
}

/** Liquid's own first line, without the place of its code. */
const sentence = (error: Error): string =>
  `its template cannot be filled in: ${(error.message.split('\n')[0] ?? '').replace(/, line:(\d+), col:\d+$/, ' (line $1)')}`
