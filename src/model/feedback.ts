/** The states of feedback and what may follow what. */
export const FEEDBACK_STATES = ['pending', 'delivering', 'delivered', 'ignored', 'undelivered'] as const
export type FeedbackState = (typeof FEEDBACK_STATES)[number]

/**
 * began: it is on its way to the agent · delivered: there is a receipt · returned: it is proven that it did not arrive · lost: nobody can tell
 * whether it arrived · ignored: its request is over · retried: a person wants it sent once more.
 */
export const FEEDBACK_EVENTS = ['began', 'delivered', 'returned', 'lost', 'ignored', 'retried'] as const
export type FeedbackEvent = (typeof FEEDBACK_EVENTS)[number]

const NOTHING = {
  began: 'refused',
  delivered: 'refused',
  returned: 'refused',
  lost: 'refused',
  ignored: 'refused',
  retried: 'refused',
} as const

export const FEEDBACK_TABLE: Readonly<Record<FeedbackState, Readonly<Record<FeedbackEvent, FeedbackState | 'refused'>>>> = {
  pending: { ...NOTHING, began: 'delivering', ignored: 'ignored' },
  delivering: { ...NOTHING, delivered: 'delivered', returned: 'pending', lost: 'undelivered', ignored: 'ignored' },
  delivered: NOTHING,
  ignored: NOTHING,
  undelivered: { ...NOTHING, retried: 'pending', ignored: 'ignored' },
}

export const feedbackStatesThatTake = (event: FeedbackEvent): FeedbackState[] =>
  FEEDBACK_STATES.filter((state) => FEEDBACK_TABLE[state][event] !== 'refused')

/** How it reaches its agent: typed into its pane, as a message that it reads, or as the prompt of its next run. */
export type DeliveryWay = 'pane' | 'message' | 'run'

/** What says that it arrived, or where it is. `epoch`: that of its session when it was sent by a run. */
export type Receipt = {
  readonly way: DeliveryWay
  readonly run: string | null
  readonly epoch: number | null
  readonly message: number | null
  readonly why: string
}

export type Feedback = {
  readonly id: string
  readonly seq: number
  readonly request: string
  readonly state: FeedbackState
  readonly text: string
  readonly by: string
  /** The same thing said twice has the same key, such as a failed check of one commit; null: it is its own. */
  readonly key: string | null
  readonly receipt: Receipt | null
  readonly at: number
  readonly updatedAt: number
}
