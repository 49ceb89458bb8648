import type { Tokens } from '../../model/index.ts'

/** What others wrote: nothing of it is believed to be there. */
export type Fields = Readonly<Record<string, unknown>>

export const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

/** What lies below these names. */
export const below = (value: unknown, ...names: readonly string[]): Fields => names.reduce((fields, name) => fieldsOf(fields[name]), fieldsOf(value))

/** A count: never negative, never endless. */
export const countOf = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0)

/** In dollars. Nothing is also what is said where no prices are known. */
export const costOf = (value: unknown): number | null => countOf(value) || null

export const textOr = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** When a line was written, as text or in milliseconds; 0 if it does not say. */
export function timeOf(value: unknown): number {
  const at = typeof value === 'string' ? Date.parse(value) : value
  return typeof at === 'number' && Number.isFinite(at) ? at : 0
}

/** Where the whole input is told, with what was read from a cache or written to one inside. */
export function fromWhole(whole: { input: unknown; output: unknown; cacheRead: unknown; cacheWrite?: unknown; cost?: unknown }): Tokens {
  const cacheRead = countOf(whole.cacheRead)
  const cacheWrite = countOf(whole.cacheWrite)
  return {
    input: Math.max(0, countOf(whole.input) - cacheRead - cacheWrite),
    output: countOf(whole.output),
    cacheRead,
    cacheWrite,
    cost: costOf(whole.cost),
  }
}

/** Where what was read from a cache or written to one is told beside the rest. */
export const fromParts = (parts: { input: unknown; output: unknown; cacheRead: unknown; cacheWrite: unknown; cost?: unknown }): Tokens => ({
  input: countOf(parts.input),
  output: countOf(parts.output),
  cacheRead: countOf(parts.cacheRead),
  cacheWrite: countOf(parts.cacheWrite),
  cost: costOf(parts.cost),
})
