import type { Feedback, RequestReason, RequestState, WorkRequest } from '../../model/index.ts'
import type { RequestRun } from '../request.ts'
import type { Turn } from '../request-queue.ts'

/** Something that works on requests. `none`: nothing does, and why. `trouble`: it runs, and its passes fail. */
export type WorkerPresence =
  | { readonly kind: 'runs'; readonly what: string; readonly trouble: string | null }
  | { readonly kind: 'none'; readonly why: string }

export type ExplainFacts = {
  readonly now: number
  readonly request: WorkRequest
  readonly followedBy: string | null
  readonly feedback: readonly Feedback[]
  readonly after: readonly { readonly id: string; readonly state: RequestState | null }[]
  /** Of a queued one; null: it is not queued. */
  readonly turn: Turn | null
  readonly worker: WorkerPresence
  readonly run: RequestRun
  readonly claimant: 'alive' | 'gone' | 'unknown'
  /** Why nothing of its repository begins, and what to type; null: nothing is in the way there. */
  readonly repoBlock: { readonly why: string; readonly hint: string } | null
}

/** Sentences that follow from each other, and the command that comes next. */
export type Explanation = { readonly because: readonly string[]; readonly next: { readonly command: string; readonly does: string } }

/** Why a request runs, waits, does not start, or is over. */
export function explain(facts: ExplainFacts): Explanation {
  const { request } = facts
  if (request.endedAt !== null) return explainEnd(facts)
  const open = request.closing === null ? explainOpen(facts) : explainClosing(facts)
  const lost = facts.feedback.find(({ state }) => state === 'undelivered')
  if (lost === undefined) return open
  const because = [...open.because, `feedback ${lost.id} may not have reached its agent: ${lost.receipt?.why ?? 'nothing tells'}`]
  return { because, next: { command: `holdfast feedback retry ${lost.id}`, does: 'sends it once more' } }
}

const show = ({ id }: WorkRequest): Explanation['next'] => ({ command: `holdfast work show ${id}`, does: 'tells what happened since' })
const START: Explanation['next'] = { command: 'holdfast daemon start', does: 'works on requests; or in the foreground: holdfast worker run' }

/** What only a worker does needs one. */
function byWorker({ worker }: ExplainFacts, because: readonly string[], next: Explanation['next']): Explanation {
  if (worker.kind === 'none') return { because: [...because, `no worker runs: ${worker.why}`], next: START }
  if (worker.trouble === null) return { because: [...because, `${worker.what} works on requests`], next }
  return {
    because: [...because, `${worker.what} works on requests, but fails: ${worker.trouble}`],
    next: { command: 'holdfast daemon status', does: 'tells its health' },
  }
}

function explainClosing(facts: ExplainFacts): Explanation {
  const { request, run } = facts
  const why = `it is being ended: ${request.closing?.summary}`
  const alive =
    run.kind === 'live' ? [run.liveness === 'alive' ? 'its agent has not ended yet' : `whether its agent has ended cannot be told: ${run.why}`] : []
  return byWorker(facts, [why, ...alive], { command: `holdfast work cancel ${request.id}`, does: 'tries it at once' })
}

function explainOpen(facts: ExplainFacts): Explanation {
  switch (facts.request.state) {
    case 'queued':
      return explainQueued(facts)
    case 'claimed':
      return explainClaimed(facts)
    case 'running':
      return explainRunning(facts)
    default:
      return explainWaiting(facts)
  }
}

function explainQueued(facts: ExplainFacts): Explanation {
  const { request, turn, repoBlock, now } = facts
  const { id, trouble, summary } = request
  const failed = trouble === null ? [] : [`${trouble.step} failed${trouble.times > 1 ? ` ${trouble.times} times` : ''}: ${trouble.why}`]
  const because = ['it is in the queue', ...(summary === null ? [] : [summary]), ...failed]
  if (repoBlock !== null) return { because: [...because, repoBlock.why], next: commandIn(repoBlock.hint) ?? show(request) }
  if (turn === null || turn.kind === 'now') return byWorker(facts, [...because, 'nothing is in its way'], show(request))
  if (turn.why === 'not-due')
    return byWorker(facts, [...because, `it is tried again ${inTime(turn.until, now)}`], {
      command: `holdfast work retry ${id}`,
      does: 'tries it at once',
    })
  return byWorker(facts, [...because, turn.what, 'it begins when another one is over'], { command: 'holdfast work ls', does: 'tells which ones run' })
}

/** A hint of others is a sentence with a command in it. */
function commandIn(hint: string): Explanation['next'] | null {
  const [, does = '', command] = /^(.*?)(holdfast .*)$/.exec(hint) ?? []
  return command === undefined ? null : { command, does: does.replace(/[\s:;,]+$/, '') || 'is what comes next' }
}

function explainClaimed(facts: ExplainFacts): Explanation {
  const { request, claimant } = facts
  if (claimant === 'alive') return { because: ['a worker has taken it', 'its agent is being started'], next: show(request) }
  if (claimant === 'gone')
    return byWorker(facts, ['a worker had taken it, and ended before its agent began', 'the next pass puts it back into the queue'], show(request))
  return {
    because: ['a worker has taken it', 'whether that worker is alive cannot be told, so nobody else takes it'],
    next: { command: 'holdfast doctor', does: 'tells what hides the processes' },
  }
}

function explainRunning(facts: ExplainFacts): Explanation {
  const { request, run } = facts
  const { session, attempt, result, pending } = request
  const tried = attempt > 1 ? [`it is attempt ${attempt}`] : []
  if (run.kind === 'live' && run.liveness === 'alive') {
    const waiting = pending === 0 ? [] : [`feedback on its way to the agent: ${pending}`]
    const told = result === null ? 'its agent is at work' : 'its agent has reported a result, and comes to its end'
    return { because: [told, ...tried, ...waiting], next: { command: `holdfast logs ${session}`, does: 'shows the words of the agent' } }
  }
  if (run.kind === 'live')
    return {
      because: [`whether its run is alive cannot be told: ${run.why ?? 'no reason is known'}`, 'so it is neither ended nor begun again'],
      next: { command: `holdfast status ${session}`, does: 'tells the proof' },
    }
  const over = run.kind === 'ended' ? `its run has ended (${run.run.state}): ${run.run.reason}` : 'its run is not on record any more'
  return byWorker(facts, [over, 'a worker records the outcome'], show(request))
}

function explainWaiting(facts: ExplainFacts): Explanation {
  const { request, now } = facts
  const { id, cause, summary, dueAt } = request
  const said = summary === null ? [] : [summary]
  switch (cause) {
    case 'dependency':
      return explainDependency(facts)
    case 'limit':
      return byWorker(facts, [...said, dueAt === null ? 'it goes on when a person says so' : `it goes on ${inTime(dueAt, now)}`], {
        command: `holdfast work retry ${id}`,
        does: 'goes on at once',
      })
    case 'publish':
      return byWorker(facts, ['its work is done, and its branch is not published yet', ...said, `it is tried again ${inTime(dueAt, now)}`], {
        command: `holdfast work retry ${id}`,
        does: 'tries it at once',
      })
    default:
      return explainReview(facts, said)
  }
}

function explainReview(facts: ExplainFacts, said: readonly string[]): Explanation {
  const { request } = facts
  const { id, cause, pending, rework, order, result, branch } = request
  const worked = rework === 0 ? [] : [`feedback was worked on ${rework} of ${order.reworkLimit} times`]
  if (pending > 0) return byWorker(facts, [`feedback for its next run: ${pending}`, ...worked], show(request))
  if (cause === 'feedback')
    return {
      because: ['it waits for feedback', ...said, ...worked],
      next: { command: `holdfast feedback add ${id} TEXT`, does: 'tells its agent what to change' },
    }
  const there =
    result === null
      ? []
      : [`its result: ${result.text}`, ...(branch === null || result.commits === 0 ? [] : [`${counted(result.commits, 'commit')} on ${branch}`])]
  return {
    because: ['it waits for your review', ...there, ...worked],
    next: { command: `holdfast work finish ${id}`, does: `accepts it; holdfast feedback add ${id} TEXT says what to change` },
  }
}

function explainDependency(facts: ExplainFacts): Explanation {
  const { request, after } = facts
  const open = after.filter(({ state }) => state !== 'done')
  const [first] = open
  if (first === undefined) return byWorker(facts, ['all that it comes after is done'], show(request))
  return {
    because: open.map(({ id, state }) => `it comes after ${id}, which is ${state ?? 'not on record'}`),
    next: { command: `holdfast work explain ${first.id}`, does: 'tells why that is not done' },
  }
}

/** What a person can do about each reason; without an entry, it goes on in its conversation. */
const REMEDIES: Partial<Readonly<Record<RequestReason, (request: WorkRequest) => Explanation['next']>>> = {
  'publish-failed': ({ order, branch }) => ({ command: `git -C ${order.repo} push origin ${branch}`, does: 'publishes what it made' }),
  dependency: ({ order, id }) => ({ command: `holdfast work explain ${order.after[0] ?? id}`, does: 'tells what it came after' }),
  timeout: ({ id }) => ({ command: `holdfast work retry ${id}`, does: 'goes on with as much time again' }),
  budget: ({ id }) => ({ command: `holdfast work retry ${id}`, does: 'goes on with as many tokens again' }),
  'source-closed': ({ id }) => ({ command: `holdfast work rerun ${id}`, does: 'begins it anew, apart from its source' }),
  cancelled: ({ id }) => ({ command: `holdfast work rerun ${id}`, does: 'begins it anew' }),
}

function explainEnd({ request, followedBy }: ExplainFacts): Explanation {
  const { id, state, reason, summary, result, order, branch } = request
  const because = [`it is ${state} (${reason}), and that is final`, ...(summary === null ? [] : [summary])]
  if (followedBy !== null)
    return {
      because: [...because, `${followedBy} follows it`],
      next: { command: `holdfast work explain ${followedBy}`, does: 'tells how that stands' },
    }
  if (state !== 'done')
    return {
      because,
      next: (reason === null ? undefined : REMEDIES[reason])?.(request) ?? { command: `holdfast work retry ${id}`, does: 'goes on with it' },
    }
  if (result === null || result.commits === 0 || result.published !== null) return { because, next: show(request) }
  return {
    because: [...because, `${counted(result.commits, 'commit')} on ${branch}, which is only here`],
    next: { command: `git -C ${order.repo} merge ${branch}`, does: 'brings it home' },
  }
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

function inTime(at: number | null, now: number): string {
  if (at === null || at <= now) return 'at the next pass'
  const seconds = Math.ceil((at - now) / 1000)
  return `in ${seconds < 120 ? `${seconds} s` : seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`}, after ${isoOf(at)}`
}

const isoOf = (at: number): string => new Date(at).toISOString()
