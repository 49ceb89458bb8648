import type { BodyTemplate } from './profile.ts'

export type Words = Readonly<Record<string, string | number | null>>

/** A route's path with its words, encoded, so that no id can leave its place. Parameters without a value go. */
export function fillPath(path: string, words: Words): string {
  const [route = '', query] = path.split('?', 2)
  const filled = route.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(words[name] ?? '')))
  if (query === undefined) return filled
  const parameters = query.split('&').flatMap((parameter) => {
    const [name = '', value = ''] = parameter.split('=', 2)
    const word = /^\{(\w+)\}$/.exec(value)?.[1]
    const given = word === undefined ? value : words[word]
    return given === undefined || given === null || given === '' ? [] : [`${name}=${encodeURIComponent(String(given))}`]
  })
  return parameters.length === 0 ? filled : `${filled}?${parameters.join('&')}`
}

export const fillBody = (template: BodyTemplate, words: Words): Record<string, unknown> =>
  Object.fromEntries(Object.entries(template).map(([name, value]) => [name, fillValue(value, words)]))

function fillValue(value: unknown, words: Words): unknown {
  if (typeof value === 'string' && value.startsWith('$')) return words[value.slice(1)] ?? null
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? fillBody(value as BodyTemplate, words) : value
}
