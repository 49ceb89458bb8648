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
/** A number or a word: what may stand in its place ends at the first other character. */
const OTHER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** What was read last is mostly asked about again at once. */
let last: { readonly text: string; readonly root: JsonNode | null } = { text: '', root: null }

/** The one value of a text; null: it is no JSON. */
export function parseJson(text: string): JsonNode | null {
  if (last.text !== text) {
    const root = value(text, skip(text, 0), 0)
    last = { text, root: root !== null && skip(text, root.end) === text.length ? root : null }
  }
  return last.root
}

/**
 * Where the next thing stands that is neither space nor comment. Character by character, as all here: what a pattern has tried it keeps, which for a
 * long string is more than there is room for.
 */
export function skip(text: string, from: number): number {
  let at = from
  for (;;) {
    while (isSpace(text.charCodeAt(at))) at++
    const end = commentEnd(text, at)
    if (end === null) return at
    at = end
  }
}

/** Space, tab and the ends of lines. */
export const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

/** Null: no comment stands there, or one that is never closed. */
function commentEnd(text: string, at: number): number | null {
  if (text.charCodeAt(at) !== SLASH) return null
  if (text.charCodeAt(at + 1) === STAR) {
    const close = text.indexOf('*/', at + 2)
    return close < 0 ? null : close + 2
  }
  if (text.charCodeAt(at + 1) !== SLASH) return null
  let end = at + 2
  while (end < text.length && text.charCodeAt(end) !== 10 && text.charCodeAt(end) !== 13) end++
  return end
}
const [SLASH, STAR, QUOTE, BACKSLASH] = [47, 42, 34, 92] as const

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
  const string = stringEnd(text, start)
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
  const end = stringEnd(text, start)
  if (end === null) return null
  const colon = skip(text, end)
  if (text[colon] !== ':') return null
  const node = value(text, skip(text, colon + 1), depth + 1)
  return node && { key: JSON.parse(text.slice(start, end)) as string, start, node }
}

/** Behind its closing quote; null: no string begins there, or it is none of JSON's. */
function stringEnd(text: string, start: number): number | null {
  if (text.charCodeAt(start) !== QUOTE) return null
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code < 32) return null
    if (code !== BACKSLASH) continue
    at++
    if (text[at] === 'u' ? !/^[0-9a-fA-F]{4}$/.test(text.slice(at + 1, at + 5)) : !'"\\/bfnrt'.includes(text[at] ?? '-')) return null
  }
  return null
}

/** Where a match that begins right there ends. */
function match(pattern: RegExp, text: string, from: number): number | null {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : null
}
