/** The values of nested maps by dotted key. Every reader throws a sentence that names the key. */
export type Keyed = {
  readonly names: () => readonly string[]
  readonly text: (key: string) => string | null
  readonly list: (key: string) => readonly string[] | null
  /** A list of words, or one line that blanks divide. */
  readonly words: (key: string) => readonly string[] | null
  readonly whole: (key: string) => number | null
  readonly count: (key: string, min: number, max: number) => number | null
  readonly oneOf: <T extends string>(key: string, known: readonly T[]) => T | null
}

export function keyed(settings: Readonly<Record<string, unknown>>): Keyed {
  const at = (key: string): unknown => {
    let value: unknown = settings
    for (const [depth, name] of key.split('.').entries()) {
      if (value === undefined || value === null) return null
      if (typeof value !== 'object' || Array.isArray(value))
        throw new Error(`${key.split('.').slice(0, depth).join('.')} is no map of keys and values`)
      value = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : null
    }
    return value ?? null
  }
  const text = (key: string): string | null => {
    const value = at(key)
    if (value === null) return null
    if (typeof value === 'number' || (typeof value === 'string' && value.trim() !== '')) return String(value)
    throw new Error(`${key} is no text`)
  }
  const list = (key: string): readonly string[] | null => {
    const value = at(key)
    if (value === null) return null
    if (Array.isArray(value) && value.every((word) => typeof word === 'string' && word !== '')) return value as string[]
    throw new Error(`${key} is no list of words`)
  }
  const whole = (key: string): number | null => {
    const value = at(key)
    if (value === null) return null
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value
    throw new Error(`${key} is no whole number: ${String(value)}`)
  }
  return {
    names: () => namesOf(settings, ''),
    text,
    list,
    words: (key) => (typeof at(key) === 'string' ? split(key, at(key) as string) : nonEmpty(key, list(key))),
    whole,
    count: (key, min, max) => {
      const value = whole(key)
      if (value !== null && (value < min || value > max)) throw new Error(`${key} is not between ${min} and ${max}: ${value}`)
      return value
    },
    oneOf: (key, known) => {
      const value = text(key)
      if (value === null) return null
      const found = known.find((one) => one === value)
      if (found === undefined) throw new Error(`${key} is none of ${known.join(', ')}: ${value}`)
      return found
    },
  }
}

/** A shell would do more with such characters than divide words. */
function split(key: string, line: string): readonly string[] | null {
  if (/["'`$\\|&;<>(){}*?~#]/.test(line)) throw new Error(`${key} needs a shell: write it as a list of words`)
  return nonEmpty(
    key,
    line.split(/\s+/).filter((word) => word !== ''),
  )
}

function nonEmpty(key: string, words: readonly string[] | null): readonly string[] | null {
  if (words?.length === 0) throw new Error(`${key} is empty`)
  return words
}

/** The dotted names of all leaves, and of maps that are empty. */
function namesOf(value: Readonly<Record<string, unknown>>, before: string): string[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    const key = `${before}${name}`
    const isMap = typeof inner === 'object' && inner !== null && !Array.isArray(inner)
    return isMap && Object.keys(inner).length > 0 ? namesOf(inner as Record<string, unknown>, `${key}.`) : [key]
  })
}
