/** The answer of a call, or null where it throws. */
export function orNull<T>(call: () => T): T | null {
  try {
    return call()
  } catch {
    return null
  }
}
