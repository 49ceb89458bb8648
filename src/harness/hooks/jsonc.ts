/** A value of a JSON text, with where it stands. Comments and a comma after the last item are allowed, as agent CLIs do. */
export type JsonNode = {
  readonly kind: 'object' | 'array' | 'string' | 'other'
  readonly start: number
  readonly end: number
  readonly items: readonly JsonItem[]
}
/** One item of an array or an object: `start` is where its key begins, `comma` where the comma after it stands. */
export type JsonItem = { readonly key: string | null; readonly start: number; readonly node: JsonNode; readonly comma: number | null }

const MAX_DEPTH = 200
const SPACE = /(?:[ \t\r\n]+|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y
/** One character at a time: a string that is never closed must not be tried in all ways. */
const STRING = /"(?:[ !#-[\]-\uFFFF]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const OTHER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** The one value of a text; null: it is no JSON. */
export function parseJson(text: string): JsonNode | null {
  const root = value(text, skip(text, 0), 0)
  return root !== null && skip(text, root.end) === text.length ? root : null
}

/** Where the next thing stands that is neither space nor comment. */
export const skip = (text: string, from: number): number => match(SPACE, text, from) ?? from

/** What it says, without how it is written; of keys that are there twice, both. */
export function meaning(text: string, node: JsonNode): unknown {
  if (node.kind === 'object') return { object: node.items.map((item) => [item.key, meaning(text, item.node)]) }
  if (node.kind === 'array') return node.items.map((item) => meaning(text, item.node))
  return JSON.parse(text.slice(node.start, node.end))
}

export const stringOf = (text: string, node: JsonNode): string | null =>
  node.kind === 'string' ? (JSON.parse(text.slice(node.start, node.end)) as string) : null

/** The item of a key that counts: the last one. */
export const itemOf = (node: JsonNode, key: string): JsonItem | undefined => node.items.findLast((item) => item.key === key)

function value(text: string, start: number, depth: number): JsonNode | null {
  if (text[start] === '{') return container(text, start, depth, '}')
  if (text[start] === '[') return container(text, start, depth, ']')
  const string = match(STRING, text, start)
  if (string !== null) return { kind: 'string', start, end: string, items: [] }
  const other = match(OTHER, text, start)
  return other === null ? null : { kind: 'other', start, end: other, items: [] }
}

function container(text: string, start: number, depth: number, close: '}' | ']'): JsonNode | null {
  if (depth >= MAX_DEPTH) return null
  const items: JsonItem[] = []
  let at = skip(text, start + 1)
  while (text[at] !== close) {
    const item = close === '}' ? property(text, at, depth) : element(text, at, depth)
    if (item === null) return null
    const next = skip(text, item.node.end)
    const comma = text[next] === ',' ? next : null
    if (comma === null && text[next] !== close) return null
    items.push({ ...item, comma })
    at = comma === null ? next : skip(text, comma + 1)
  }
  return { kind: close === '}' ? 'object' : 'array', start, end: at + 1, items }
}

function element(text: string, start: number, depth: number): Omit<JsonItem, 'comma'> | null {
  const node = value(text, start, depth + 1)
  return node && { key: null, start, node }
}

function property(text: string, start: number, depth: number): Omit<JsonItem, 'comma'> | null {
  const end = match(STRING, text, start)
  if (end === null) return null
  const colon = skip(text, end)
  if (text[colon] !== ':') return null
  const node = value(text, skip(text, colon + 1), depth + 1)
  return node && { key: JSON.parse(text.slice(start, end)) as string, start, node }
}

/** Where a match that begins right there ends. */
function match(pattern: RegExp, text: string, from: number): number | null {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : null
}
