import type { DeliveryWay, Feedback, FeedbackEvent } from '../model/index.ts'
import type { RequestRun } from './request.ts'

export type DeliveryFacts = {
  readonly now: number
  readonly run: RequestRun
  /** The epoch of its session. */
  readonly epoch: number
  /** Is a worker just starting a run for its request? */
  readonly starting: boolean
  /** Whether its message still waits to be read; null: it went another way, or it was not asked. */
  readonly unread: boolean | null
}

/** `take-back`: if it is still unread then, it was not delivered; if it is not, it was. */
export type DeliveryStep = { readonly kind: 'record'; readonly event: FeedbackEvent } | { readonly kind: 'take-back' } | { readonly kind: 'keep' }

/** What became of feedback that is on its way. `paneMs`: nobody types for longer. */
export function judgeDelivery({ state, receipt, updatedAt }: Feedback, facts: DeliveryFacts, { paneMs }: { readonly paneMs: number }): DeliveryStep {
  if (state !== 'delivering' || receipt === null) return { kind: 'keep' }
  if (receipt.way === 'pane') return facts.now - updatedAt > paneMs ? { kind: 'record', event: 'lost' } : { kind: 'keep' }
  if (receipt.way === 'message') return byMessage(receipt.run, facts)
  return byRun(receipt.epoch ?? 0, facts)
}

/** An agent that is over reads nothing any more. */
function byMessage(sentTo: string | null, { run, unread }: DeliveryFacts): DeliveryStep {
  if (unread === false) return { kind: 'record', event: 'delivered' }
  if (run.kind === 'live' && run.id === sentTo) return { kind: 'keep' }
  return unread === null ? { kind: 'keep' } : { kind: 'take-back' }
}

/** The prompt of a run: whoever was started has it. An epoch that did not grow means that no run was begun. */
function byRun(sentAt: number, { run, epoch, starting }: DeliveryFacts): DeliveryStep {
  if (epoch > sentAt && run.kind === 'live') return { kind: 'record', event: 'delivered' }
  if (epoch > sentAt && run.kind === 'ended') return { kind: 'record', event: run.run.harness === null ? 'returned' : 'delivered' }
  return starting ? { kind: 'keep' } : { kind: 'record', event: 'returned' }
}

/** How feedback may reach an agent that runs; null: it waits for its end, and for the next run. */
export function wayTo(run: RequestRun, about: { readonly hosted: boolean; readonly reads: boolean; readonly idle: boolean }): DeliveryWay | null {
  if (run.kind !== 'live' || run.liveness !== 'alive') return null
  if (about.hosted) return about.idle ? 'pane' : null
  return about.reads ? 'message' : null
}
