import type { WorkLimits, WorkRequest } from '../model/index.ts'

/** Whether a queued request may be claimed now, and if not, why not and until when; null: until something else is over. */
export type Turn =
  | { readonly kind: 'now' }
  | {
      readonly kind: 'later'
      readonly why: 'not-due' | 'limit' | 'repository-limit' | 'label-limit'
      readonly until: number | null
      readonly what: string
    }

type Busy = { all: number; readonly repositories: Map<string, number>; readonly labels: Map<string, number> }

const labelsOf = ({ order }: WorkRequest): string[] => Object.entries(order.labels).map(([key, value]) => `${key}=${value}`)

/** The queued ones in their order, as far as the limits go: who may go counts for those behind. `open`: by priority and age. */
export function turns(open: readonly WorkRequest[], limits: WorkLimits, now: number): ReadonlyMap<string, Turn> {
  const busy: Busy = { all: 0, repositories: new Map(), labels: new Map() }
  for (const request of open) if (isBusy(request)) count(busy, request)
  const found = new Map<string, Turn>()
  for (const request of open) {
    if (request.state !== 'queued') continue
    const turn = turnOf(request, busy, limits, now)
    if (turn.kind === 'now') count(busy, request)
    found.set(request.id, turn)
  }
  return found
}

/** Has it an agent, or one that is being started? A running one whose branch cannot be looked at has an agent that is over. */
export const isBusy = ({ state, trouble }: WorkRequest): boolean => state === 'claimed' || (state === 'running' && trouble?.step !== 'look-at-branch')

function count(busy: Busy, request: WorkRequest): void {
  busy.all++
  busy.repositories.set(request.order.repo, (busy.repositories.get(request.order.repo) ?? 0) + 1)
  for (const label of labelsOf(request)) busy.labels.set(label, (busy.labels.get(label) ?? 0) + 1)
}

function turnOf(request: WorkRequest, busy: Busy, limits: WorkLimits, now: number): Turn {
  const later = (why: Extract<Turn, { kind: 'later' }>['why'], what: string, until: number | null = null): Turn => ({
    kind: 'later',
    why,
    until,
    what,
  })
  if (request.dueAt !== null && request.dueAt > now) return later('not-due', request.summary ?? 'it is tried again later', request.dueAt)
  if (busy.all >= limits.atOnce) return later('limit', `${busy.all} of ${limits.atOnce} requests run`)
  const here = busy.repositories.get(request.order.repo) ?? 0
  if (here >= limits.perRepository) return later('repository-limit', `${here} of ${limits.perRepository} requests run in ${request.order.repo}`)
  for (const label of labelsOf(request)) {
    const [most, now] = [limits.perLabel[label] ?? Number.POSITIVE_INFINITY, busy.labels.get(label) ?? 0]
    if (now >= most) return later('label-limit', `${now} of ${most} requests with the label ${label} run`)
  }
  return { kind: 'now' }
}
