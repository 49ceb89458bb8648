/** A value of a body: `$name` stands for a word of the call, everything else for itself. */
export type BodyTemplate = Readonly<Record<string, unknown>>

/** `{name}` in a path stands for a word of the call, encoded. */
export type HttpRoute = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: BodyTemplate; readonly keyed?: true }

/** Where a field of an item lies in the answer, as a dotted path. */
export type ItemFields = {
  readonly id: string
  readonly title: string
  readonly text: string
  readonly url: string
  readonly repository: string
  readonly branch: string
  readonly labels: string
  readonly priority: string
  readonly blockedBy: string
  readonly state: string
  readonly reason: string
  readonly createdAt: string
}

/** What a control plane calls things. The protocol itself is the standard profile; others are data on top of it. */
export type HttpProfile = {
  readonly name: string
  readonly routes: {
    readonly list: HttpRoute
    readonly look: HttpRoute
    readonly claim: HttpRoute
    readonly heartbeat: HttpRoute | null
    readonly feedback: HttpRoute | null
    readonly report: HttpRoute
    readonly receipt: HttpRoute | null
  }
  readonly list: { readonly items: string; readonly next: string | null }
  readonly item: ItemFields
  /** The words of the other side for items that may be taken, and for those that are over. */
  readonly open: readonly string[]
  readonly closed: readonly string[]
  readonly claim: { readonly token: string; readonly leaseSeconds: string }
  readonly feedback: { readonly items: string; readonly id: string; readonly author: string; readonly text: string; readonly at: string }
  /** Our states in the words of the other side. */
  readonly states: Readonly<Record<string, string>>
}
