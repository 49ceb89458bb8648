import type { Intent } from './run.ts'

/** What a run's agent was told of what is around it, so that each change is told once. */
export type Told = {
  /** Runs of siblings that it knows to be here. */
  readonly here: readonly string[]
  /** The newest message that it knows to wait. */
  readonly message: Waiting
  /** It knows that it was told to end. */
  readonly retired: boolean
  /** It had a prompt before: those who are here since then have joined it. */
  readonly greeted: boolean
}

/** A message by its number and its time: a store that was lost numbers from 1 again. */
type Waiting = { readonly seq: number; readonly at: number }

/** Another session at work here, by the run that it is at work in: its id may change. */
export type Peer = {
  readonly run: string
  readonly session: string
  readonly harness: string | null
  /** What it does, in its own words; null: it has not said. */
  readonly plan: string | null
}

/** The topic of the notice that messages wait: which and how many is asked when it is told. */
export const MESSAGES = 'messages'

/** What is left for an agent until somebody tells it. Of one topic there is only the newest. */
export type Notice = { readonly topic: string; readonly text: string }

/** A text with the number of its version, 0 before there is any: who replaces it says which one was seen. */
export type Versioned = { readonly version: number; readonly text: string | null }

/** What is around an agent now. */
export type Around = {
  readonly peers: readonly Peer[]
  /** Those that it was told of and whose runs are on record as over. */
  readonly gone: readonly Peer[]
  /** `earlier`: it was sent to a run of the session before this one. */
  readonly unread: readonly (Waiting & { readonly from: string; readonly earlier: boolean })[]
  readonly retired: Retirement | null
}
/** It was told to end: what its session is called, and who wants what; null: the tombstone has no words. */
export type Retirement = { readonly session: string; readonly intent: Intent | null }

export type WaitingMessages = { readonly count: number; readonly earlier: number; readonly from: string }

/** What of it is new to the agent. */
export type News = {
  /** It is its first prompt: they were here before it. */
  readonly first: boolean
  readonly joined: readonly Peer[]
  readonly left: readonly Peer[]
  /** How many messages wait, how many of them were sent to a run before, and who sent the newest; null: nothing new about them. */
  readonly messages: WaitingMessages | null
  readonly retired: Retirement | null
  readonly notices: readonly string[]
}
