import type { Feedback } from '../model/index.ts'
import { type Paint, plain } from './paint.ts'
import { feedbackLines, type RequestView, requestJson } from './work.ts'

/** `cancelled`: its end is on record. The others: it is still open, and why. */
export type CancelledView = RequestView & {
  readonly kind: 'cancelled' | 'ending' | 'survivors' | 'unproven'
  readonly why: string | null
}
/** `reported`: the agent comes to its end now. `accepted`: it is done. */
export type FinishedView = RequestView & { readonly kind: 'reported' | 'accepted' }

/** The stable objects of `work cancel --json` and `work finish --json`: the request, and what came of the wish. */
export const cancelledJson = (view: CancelledView): Record<string, unknown> => ({ ...requestJson(view), outcome: view.kind, why: view.why })
export const finishedJson = (view: FinishedView): Record<string, unknown> => ({ ...requestJson(view), outcome: view.kind })

export function cancelledText({ request, kind, why }: CancelledView): string[] {
  if (kind === 'cancelled') return [`${request.id} is cancelled: ${plain(request.summary ?? '')}`]
  const again =
    kind === 'ending'
      ? `holdfast work show ${request.id} tells how it stands`
      : `holdfast work cancel ${request.id} tries again, and so does a worker`
  return [`${request.id} is not over yet: ${plain(why ?? '')}`, `  ${again}`]
}

export const requestFinishedText = ({ request, kind }: FinishedView): string[] =>
  kind === 'accepted'
    ? [`${request.id} is done: ${plain(request.summary ?? '')}`]
    : [`the result of ${request.id} is on record; end your work now, and leave nothing running`]

/** `work rerun` and `work retry`. */
export function repeatedText({ request }: RequestView): string[] {
  const { from } = request.order
  return from === null
    ? [`${request.id} is tried again at once`]
    : [
        `${request.id} ${from.how === 'retry' ? `goes on with ${from.request}, on its branch ${plain(request.branch ?? '')}` : `repeats ${from.request}, on a branch of its own`}`,
      ]
}

/** `feedback ls`. */
export function feedbackText(feedback: readonly Feedback[], now: number, paint: Paint): string[] {
  if (feedback.length === 0) return [paint.dim('no feedback')]
  const requests = [...new Set(feedback.map(({ request }) => request))]
  return requests.flatMap((id) => [
    paint.bold(id),
    ...feedbackLines(
      feedback.filter(({ request }) => request === id),
      now,
    ),
  ])
}
export const feedbackAddedText = ({ id, request }: Feedback): string[] => [
  `${id} is kept for ${request}; its agent gets it as soon as it can be reached`,
]
