export const EVENTS = 'holdfast://events'

/** The session that an address names, as it calls it; null: it is about all. */
export const sessionIn = (uri: string): string | null => (uri.startsWith(`${EVENTS}/`) ? decoded(uri.slice(EVENTS.length + 1)) : null)

export const isOfEvents = (uri: string): boolean => uri === EVENTS || uri.startsWith(`${EVENTS}/`)

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
