import type { FinishRequest, WorkAddition, World } from '../app/index.ts'
import {
  addFeedback,
  addRequest,
  cancelRequest,
  explainRequest,
  finishRequest,
  rerunRequest,
  retryFeedback,
  retryRequest,
  seeRequest,
  seeWork,
  watchRequest,
} from '../app/index.ts'
import type { Feedback, RequestEvent } from '../model/index.ts'
import type { CancelledView, ExplainedView, FinishedView, RequestStory, RequestView } from '../show/index.ts'

/** A request is named by its id, or by a beginning of at least four characters. */
export type Work = {
  add(addition: WorkAddition): Promise<RequestView>
  /** What needs a person comes first. */
  list(which?: 'shown' | 'all'): Promise<RequestView[]>
  show(reference: string): Promise<RequestStory>
  /** Why it stands where it stands, and what to type next. */
  explain(reference: string): Promise<ExplainedView>
  /** All that happened and happens to it, until it is over. */
  watch(reference: string, signal?: AbortSignal): AsyncIterable<RequestEvent>
  cancel(reference: string, why?: string): Promise<CancelledView>
  rerun(reference: string): Promise<RequestView>
  retry(reference: string): Promise<RequestView>
  finish(request: FinishRequest): Promise<FinishedView>
  addFeedback(reference: string, text: string): Promise<Feedback>
  retryFeedback(id: string): Promise<Feedback>
}

export const workIn = (world: World): Work => ({
  add: (addition) => addRequest(world, addition),
  list: async (which = 'shown') => (await seeWork(world, which)).views,
  show: (reference) => seeRequest(world, reference),
  explain: (reference) => explainRequest(world, reference),
  watch: (reference, signal) => watchRequest(world, reference, signal),
  cancel: (reference, why) => cancelRequest(world, reference, why),
  rerun: (reference) => rerunRequest(world, reference),
  retry: (reference) => retryRequest(world, reference),
  finish: (request) => finishRequest(world, request),
  addFeedback: (reference, text) => addFeedback(world, reference, text),
  retryFeedback: (id) => retryFeedback(world, id),
})
