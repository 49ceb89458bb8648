import type { Around, News, Notice, Told } from '../model/index.ts'

/** The topic of the notice that messages wait: which and how many is asked when it is told. */
export const MESSAGES = 'messages'

/** What of all that is around an agent it has not been told, if anything, and what it has been told once it is. */
export function newsFor(before: Told | null, around: Around, notices: readonly Notice[]): { readonly news: News | null; readonly told: Told } {
  const known = before ?? UNTOLD
  const { peers, gone, unread, retired } = around
  const isHere = new Set(peers.map(({ session }) => session))
  // A session that was here and is here in another run has neither left nor joined.
  const wasHere = new Set(gone.map(({ session }) => session))
  const newest = unread.at(-1)
  const isNew = newest !== undefined && (newest.seq > known.message || notices.some(({ topic }) => topic === MESSAGES))
  const news: News = {
    first: !known.greeted,
    joined: peers.filter(({ run, session }) => !known.here.includes(run) && !wasHere.has(session)),
    left: gone.filter(({ session }) => !isHere.has(session)),
    messages: isNew ? { count: unread.length, from: newest.from } : null,
    retired: known.retired ? null : retired,
    notices: notices.filter(({ topic }) => topic !== MESSAGES).map(({ text }) => text),
  }
  const over = new Set(gone.map(({ run }) => run))
  const told: Told = {
    // One that is not seen and not proven over is still known.
    here: [...new Set([...known.here.filter((run) => !over.has(run)), ...peers.map(({ run }) => run)])],
    message: Math.max(known.message, newest?.seq ?? 0),
    retired: known.retired || retired !== null,
    greeted: true,
  }
  return { news: isNothing(news) ? null : news, told }
}

const UNTOLD: Told = { here: [], message: 0, retired: false, greeted: false }

const isNothing = ({ joined, left, messages, retired, notices }: News): boolean =>
  joined.length + left.length + notices.length === 0 && messages === null && retired === null

/** A message was announced with a notice; null: it is known already. */
export const announced = (before: Told | null, message: number): Told | null =>
  before !== null && before.message >= message ? null : { ...(before ?? UNTOLD), message }

/** As it was written down; what makes no sense counts as nothing told. */
export function toldFrom(text: string | null): Told | null {
  try {
    const { here, message, retired, greeted } = JSON.parse(text ?? 'null') as Told
    const isWhole = Array.isArray(here) && typeof message === 'number' && typeof retired === 'boolean' && typeof greeted === 'boolean'
    return isWhole ? { here, message, retired, greeted } : null
  } catch {
    return null
  }
}
