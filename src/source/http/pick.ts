/** Values of an answer from elsewhere, by dotted path. Wrong shapes are `null`, or a thrown sentence where the field is needed. */

export function at(value: unknown, path: string): unknown {
  let here = value
  for (const name of path.split('.')) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, name)) return null
    here = (here as Record<string, unknown>)[name]
  }
  return here ?? null
}

/** Numbers are ids to some, and words to us. */
export function textAt(value: unknown, path: string): string | null {
  const found = at(value, path)
  return typeof found === 'string' ? found : typeof found === 'number' && Number.isFinite(found) ? String(found) : null
}

export const numberAt = (value: unknown, path: string): number | null => {
  const found = at(value, path)
  return typeof found === 'number' && Number.isFinite(found) ? found : null
}

export function listAt(value: unknown, path: string): readonly unknown[] | null {
  const found = at(value, path)
  return Array.isArray(found) ? found : null
}

export const wordsAt = (value: unknown, path: string): readonly string[] =>
  (listAt(value, path) ?? []).flatMap((word) => (typeof word === 'string' ? [word] : typeof word === 'number' ? [String(word)] : []))

/** ISO text, or seconds since 1970. */
export function timeAt(value: unknown, path: string): number | null {
  const found = at(value, path)
  const time = typeof found === 'string' ? Date.parse(found) : typeof found === 'number' ? found * 1000 : Number.NaN
  return Number.isFinite(time) ? time : null
}
