import type { HoldfastEvent } from './event.ts'

/** What a person can be told of without having asked. */
export const NOTIFY_KINDS = ['input', 'finished', 'refused', 'orphan', 'budget', 'unwatched'] as const
export type NotifyKind = (typeof NOTIFY_KINDS)[number]

/** How somebody is told: by the desktop, by the bell of the session's terminal, by a command of his own. */
export const NOTIFY_WAYS = ['desktop', 'bell', 'command'] as const
export type NotifyWay = (typeof NOTIFY_WAYS)[number]

/** What `config.toml` says about it (`[notify]`). */
export type NotifyConfig = {
  readonly desktop: boolean
  readonly bell: boolean
  /** Null: none. */
  readonly command: readonly string[] | null
  readonly on: readonly NotifyKind[]
}

export const NOTIFY_DEFAULT: NotifyConfig = { desktop: true, bell: false, command: null, on: NOTIFY_KINDS }

/** Something to tell a person. `more`: so many that there was no time for. */
export type Notification = {
  readonly kind: NotifyKind | 'more'
  readonly session: string | null
  readonly run: string | null
  readonly seq: number
  readonly at: number
  readonly title: string
  readonly text: string
}

/** What was told lately, what waits until its session and kind may be told of again (so many, the newest of them), and how many there was no time for. */
export type NotifyHistory = {
  readonly told: readonly { readonly at: number; readonly session: string; readonly kind: NotifyKind }[]
  readonly later: readonly { readonly event: HoldfastEvent; readonly kind: NotifyKind; readonly count: number }[]
  readonly held: number
}

/** How far people were told of what happened: up to this event, at that time. */
export type Notified = { readonly seq: number; readonly at: number; readonly history: NotifyHistory }

/** How to reach a person. Each throws with a sentence where it could not. */
export interface Notifiers {
  /** Null: it can; else why it cannot from here. */
  desktopTrouble(): string | null
  desktop(notification: Notification): Promise<void>
  bell(tty: string): void
  command(argv: readonly string[], notification: Notification): Promise<void>
}
