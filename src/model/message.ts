import type { SelfProof } from './who-am-i.ts'

/** Who sent it, as we know it: never as it calls itself. `session` is null for a person, or a program outside every session. */
export type Sender = {
  readonly session: string | null
  readonly run: string | null
  /** By what it is proven; null: outside every session there is nothing to prove. */
  readonly how: SelfProof | null
  /** An agent that is no session, and the session that it was started in, if any. */
  readonly agent: { readonly harness: string; readonly inside: string | null } | null
  readonly user: string
  readonly host: string
}

/** Whom the sender meant: one session, all that worked in its repository or directory tree then, or all that were live. */
export type Addressed = 'session' | 'here' | 'all'

export type Message = {
  readonly seq: number
  readonly at: number
  readonly expiresAt: number
  readonly from: Sender
  readonly to: Addressed
  readonly text: string
  /** The run that it was sent to, where that is over or replaced, and when it ended; null: not known. Left out: the reader's run is the one that was meant. */
  readonly sentTo?: { readonly run: string; readonly endedAt: number | null }
}

/** `readers`: sessions, by id. No reader has more than `inboxSize` unread ones. */
export type NewMessage = Omit<Message, 'seq' | 'sentTo'> & { readonly readers: readonly string[]; readonly inboxSize: number }

/** `full`: sessions that have too many unread ones; `gone`: those without a live run by now. `seq` is null if it reached nobody. */
export type Sent = {
  readonly seq: number | null
  readonly reached: readonly string[]
  readonly full: readonly string[]
  readonly gone: readonly string[]
}

/** `left`: so many more wait. */
export type Inbox = { readonly messages: readonly Message[]; readonly left: number }

/** What a session says of its own work, for the others: what it is about to do, and what came of it. */
export type SayingKind = 'plan' | 'result'
export type Saying = { readonly text: string; readonly at: number }
export type Said = { readonly plan: Saying | null; readonly result: Saying | null }
