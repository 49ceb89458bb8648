import type { Around, News, Notice, Told } from '../model/index.ts'
import { MESSAGES } from '../model/index.ts'

/** What of all that is around an agent it has not been told, if anything, and what it has been told once it is. */
export function newsFor(before: Told | null, around: Around, notices: readonly Notice[]): { readonly news: News | null; readonly told: Told } {
  const known = before ?? UNTOLD
  const { peers, gone, unread, retired } = around
  const isHere = new Set(peers.map(({ session }) => session))
  // A session that was here and is here in another run has neither left nor joined.
  const wasHere = new Set(gone.map(({ session }) => session))
  const newest = unread.at(-1)
  const isNew = newest !== undefined && (isAfter(newest, known.message) || notices.some(({ topic }) => topic === MESSAGES))
  const news: News = {
    first: !known.greeted,
    joined: peers.filter(({ run, session }) => !known.here.includes(run) && !wasHere.has(session)),
    left: gone.filter(({ session }) => !isHere.has(session)),
    messages: isNew ? { count: unread.length, earlier: unread.filter(({ earlier }) => earlier).length, from: newest.from } : null,
    retired: known.retired ? null : retired,
    notices: notices.filter(({ topic }) => topic !== MESSAGES).map(({ text }) => text),
  }
  const over = new Set(gone.map(({ run }) => run))
  const told: Told = {
    // One that is not seen and not proven over is still known.
    here: [...new Set([...known.here.filter((run) => !over.has(run)), ...peers.map(({ run }) => run)])],
    message: newest !== undefined && isAfter(newest, known.message) ? { seq: newest.seq, at: newest.at } : known.message,
    retired: known.retired || retired !== null,
    greeted: true,
  }
  return { news: isNothing(news) ? null : news, told }
}

const UNTOLD: Told = { here: [], message: { seq: 0, at: 0 }, retired: false, greeted: false }

const isNothing = ({ joined, left, messages, retired, notices }: News): boolean =>
  joined.length + left.length + notices.length === 0 && messages === null && retired === null

/** A message was announced with a notice; null: it is known already. */
export const announced = (before: Told | null, { seq, at }: Told['message']): Told | null =>
  before !== null && !isAfter({ seq, at }, before.message) ? null : { ...(before ?? UNTOLD), message: { seq, at } }

/** By its number, as long as the store is the same; and by its time, when that was lost and made anew. */
const isAfter = (one: Told['message'], other: Told['message']): boolean => one.seq > other.seq || one.at > other.at

/** As it was written down; what makes no sense counts as nothing told. */
export function toldFrom(text: string | null): Told | null {
  try {
    const { here, message, retired, greeted } = JSON.parse(text ?? 'null') as Told
    const isWhole = Array.isArray(here) && isMessage(message) && typeof retired === 'boolean' && typeof greeted === 'boolean'
    return isWhole ? { here, message, retired, greeted } : null
  } catch {
    return null
  }
}

const isMessage = ({ seq, at }: Told['message']): boolean => typeof seq === 'number' && typeof at === 'number'
