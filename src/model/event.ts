/** What happened, append-only. */
export type EventKind =
  | 'claimed'
  | 'running'
  | 'asked'
  | 'exited'
  | 'ended'
  | 'survivors'
  | 'adopted'
  | 'shared'
  | 'unlocked'
  | 'bound'
  | 'moved'
  | 'conflict'
  | 'told'
  | 'rebound'
  | 'said'
  | 'messaged'
  /** Of Holdfast's own daemon, and of no session: what it did is in the detail. */
  | 'daemon'
  | 'activity'
  | 'refused'
  /** Tokens were spent in it while nobody watched. */
  | 'unwatched'

export type HoldfastEvent = {
  readonly seq: number
  readonly at: number
  readonly kind: EventKind
  readonly session: string
  readonly run: string
  readonly epoch: number
  readonly detail: Readonly<Record<string, unknown>>
}
