/** What a live agent is at: it works, it needs an answer to go on, or its turn is over and it waits for the next prompt. */
export type ActivityState = 'busy' | 'waiting' | 'idle'

/** Who says so: a hook of its harness, the harness's own registry, or whether anything comes out of it. */
export type ActivityHow = 'hook' | 'registry' | 'output'

/** `since`: null where only that it is so is known, and not since when. */
export type Activity = { readonly state: ActivityState; readonly since: number | null; readonly how: ActivityHow }

/** One that somebody has written down, with the time of that. */
export type NotedActivity = { readonly state: ActivityState; readonly since: number }

/** A change that goes on record. `gapMs`: what is only guessed is told no more often than that. */
export type ActivityChange = NotedActivity & { readonly how: ActivityHow; readonly gapMs: number }

/** Somebody who was refused because a live owner holds what he wanted. */
export type Asker = { readonly pid: number; readonly command: string; readonly user: string }
export type Refusal = {
  readonly asker: Asker
  readonly wanted: 'session' | 'directory' | 'conversation'
  readonly dir: string | null
  /** Of this holder and what was wanted, it is told no more often than that, whoever asks. */
  readonly gapMs: number
}

export const isActivityState = (word: unknown): word is ActivityState => word === 'busy' || word === 'waiting' || word === 'idle'
