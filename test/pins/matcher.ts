import { expect } from 'vitest'

/** A pattern stands for a value that differs from run to run. Prose is `<text>`: its words may improve, its type may not. */
const PATTERNS: Readonly<Record<string, { readonly type: 'string' | 'number'; readonly like: string }>> = {
  '<iso>': { type: 'string', like: String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z` },
  '<pid>': { type: 'number', like: String.raw`[1-9]\d{0,6}` },
  '<ticks>': { type: 'number', like: String.raw`\d+` },
  '<count>': { type: 'number', like: String.raw`\d+` },
  '<run>': { type: 'string', like: 'r[0-9a-f]{12}' },
  '<id>': { type: 'string', like: '[A-Za-z0-9][A-Za-z0-9._-]{0,127}' },
  '<version>': { type: 'string', like: String.raw`v?\d+\.\d+\.\d+\S*` },
  '<port>': { type: 'number', like: String.raw`[1-9]\d{0,4}` },
  '<path>': { type: 'string', like: '/.*' },
  '<text>': { type: 'string', like: '[^]+' },
}
const NAMES = /<[a-z]+>/g

/** A list of at least one entry, each of which is like the example. */
class Each {
  readonly example: unknown
  constructor(example: unknown) {
    this.example = example
  }
}
/** A value that is like one of the examples. */
class Either {
  readonly examples: readonly unknown[]
  constructor(examples: readonly unknown[]) {
    this.examples = examples
  }
}
export const each = (example: unknown): unknown => new Each(example)
export const either = (...examples: readonly unknown[]): unknown => new Either(examples)

/** Fails unless the value, as JSON, is exactly like the literal example: no key more, no key less, each value as written or of its pattern. */
export function pinned(value: unknown, example: unknown): void {
  expect(differences(JSON.parse(JSON.stringify(value)), example)).toEqual([])
}

/** Every place where the two differ, in words that say which way the contract changed. */
export function differences(value: unknown, example: unknown, at = '$'): string[] {
  if (example instanceof Each) return eachDiffers(value, example, at)
  if (example instanceof Either) return eitherDiffers(value, example, at)
  if (typeof example === 'string') return isLike(value, example) ? [] : [changed(value, example, at)]
  if (Array.isArray(example)) return listDiffers(value, example, at)
  if (isObject(example)) return isObject(value) ? objectDiffers(value, example, at) : [changed(value, example, at)]
  return Object.is(value, example) ? [] : [changed(value, example, at)]
}

function objectDiffers(value: Record<string, unknown>, example: Record<string, unknown>, at: string): string[] {
  const grown = Object.keys(value).filter((key) => !Object.hasOwn(example, key))
  const lost = Object.keys(example).filter((key) => !Object.hasOwn(value, key))
  const common = Object.keys(example).filter((key) => Object.hasOwn(value, key))
  return [
    ...grown.map((key) => `${at}.${key}: the contract grew: add it here (${JSON.stringify(value[key])})`),
    ...lost.map((key) => `${at}.${key}: the contract lost a key that programs read`),
    ...common.flatMap((key) => differences(value[key], example[key], `${at}.${key}`)),
  ]
}

function listDiffers(value: unknown, example: readonly unknown[], at: string): string[] {
  if (!Array.isArray(value) || value.length !== example.length) return [changed(value, example, at)]
  return example.flatMap((one, index) => differences(value[index], one, `${at}[${index}]`))
}

function eachDiffers(value: unknown, { example }: Each, at: string): string[] {
  if (!Array.isArray(value) || value.length === 0) return [changed(value, [example], at)]
  return value.flatMap((one, index) => differences(one, example, `${at}[${index}]`))
}

/** The example that comes nearest says where the value differs. */
function eitherDiffers(value: unknown, { examples }: Either, at: string): string[] {
  const all = examples.map((example) => differences(value, example, at))
  return all.toSorted((a, b) => a.length - b.length)[0] ?? [`${at}: there is no example`]
}

function isLike(value: unknown, example: string): boolean {
  const whole = PATTERNS[example]
  if (whole !== undefined) return typeof value === whole.type && new RegExp(`^${whole.like}$`).test(String(value))
  const names = example.match(NAMES) ?? []
  const unknownName = names.find((name) => PATTERNS[name] === undefined)
  if (unknownName !== undefined) throw new Error(`there is no pattern ${unknownName}`)
  const parts = example.split(NAMES).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  const like = parts.map((part, index) => `${part}${PATTERNS[names[index] ?? '']?.like ?? ''}`).join('')
  return typeof value === 'string' && new RegExp(`^${like}$`).test(value)
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const changed = (value: unknown, example: unknown, at: string): string =>
  `${at}: the contract changed: ${JSON.stringify(value)} is not like ${JSON.stringify(example)}`
