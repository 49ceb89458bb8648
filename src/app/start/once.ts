/** A fact that is gathered at first use, and only then. */
export function once<T>(gather: () => T): () => T {
  let known: { readonly value: T } | null = null
  return () => {
    known ??= { value: gather() }
    return known.value
  }
}
