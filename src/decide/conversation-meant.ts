import type { Alias, Session } from '../model/index.ts'

/** `session`: the session itself, so its present conversation. `conversation`: another one that it has had. */
export type Meant =
  | { readonly kind: 'session' }
  | { readonly kind: 'conversation'; readonly id: string }
  | { readonly kind: 'ambiguous'; readonly ids: readonly string[] }

/** What the agent of a session says of an id: it has such a conversation; or its ids look like that. */
export type IdRule = { readonly isThere: (id: string) => boolean; readonly isLike: (id: string) => boolean }

type Named = Pick<Session, 'id' | 'name' | 'native'>

/** The conversation that a reference to a session names. The whole of an id or name counts before the beginning of another. */
export function conversationMeant(reference: string, { id, name, native }: Named, aliases: readonly Alias[], rule: IdRule): Meant {
  const own = [id, ...(name === null ? [] : [name]), ...(native === null ? [] : [native])]
  const former = new Set(aliases.flatMap(({ alias, former: isFormer }) => (isFormer ? alias : [])))
  const ids = [...new Set([...own, ...aliases.map(({ alias }) => alias)])]
  const whole = ids.filter((one) => one === reference)
  const named = whole.length > 0 ? whole : ids.filter((one) => one.startsWith(reference))
  // A session may be called by the id of a conversation that it has left: then its name says two things.
  const isConversation = (one: string): boolean =>
    one !== native && (rule.isThere(one) || (!own.includes(one) && !former.has(one) && rule.isLike(one)))
  const [other] = named.filter(isConversation)
  if (other === undefined) return { kind: 'session' }
  if (named.length > 1) return { kind: 'ambiguous', ids: named }
  return own.includes(other) && native !== null ? { kind: 'ambiguous', ids: [other, native] } : { kind: 'conversation', id: other }
}
