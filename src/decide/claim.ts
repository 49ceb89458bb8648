import type { Ending, LiveRun, Lock, Relation, Run } from '../model/index.ts'
import { isLive } from '../model/index.ts'
import type { LockVerdict } from './lock.ts'
import type { Verdict } from './verdict.ts'

/** What the caller wants when the session has a live owner. */
export type OnLive = 'refuse' | 'wait' | 'attach' | 'takeover'
export type Choice = { readonly onLive: OnLive; readonly force: boolean; readonly share: boolean }

export type Judged = { readonly run: LiveRun; readonly verdict: Verdict }

export type ClaimView = {
  readonly epoch: number
  /** The epoch when the caller first looked. Taking over means taking it from the owner of then, not from whoever took it meanwhile. */
  readonly firstEpoch: number
  readonly current: Judged | null
  /** Who holds the directory, or one above or below it. */
  readonly holdings: readonly Holding[]
  /** Trees of this very session that live on although their runs are over on record, wherever they are. */
  readonly forgotten: readonly Holding[]
  /** Live runs of other sessions that came to this very conversation and were fenced off from it. */
  readonly rivals: readonly LiveRun[]
}

/**
 * A lock in the way. `worksIn`: it is so by an agent of the run, which works there now, outside of what the run holds.
 * `run`: the live run on record that it is of.
 */
export type Holding = {
  readonly lock: Lock
  readonly relation: Relation
  readonly worksIn: string | null
  readonly run: LiveRun | null
  readonly verdict: LockVerdict
}

/** What a claim is refused or waits for. */
export type Obstacle = { readonly what: 'session'; readonly run: LiveRun } | { readonly what: 'directory' | 'forgotten'; readonly holding: Holding }

export type ClaimDecision =
  | { readonly kind: 'claim'; readonly seenEpoch: number }
  /** Ends that are proven, and locks that nobody holds any more: they are recorded, all at once. */
  | { readonly kind: 'clear'; readonly ends: readonly { readonly run: LiveRun; readonly ending: Ending }[]; readonly locks: readonly Lock[] }
  | { readonly kind: 'end-leftovers'; readonly run: LiveRun }
  | { readonly kind: 'retire'; readonly run: LiveRun; readonly despite: string | null }
  | { readonly kind: 'end-forgotten'; readonly lock: Lock }
  | { readonly kind: 'attach'; readonly run: LiveRun }
  | { readonly kind: 'wait'; readonly for: Obstacle; readonly why: string; readonly settling: boolean }
  | { readonly kind: 'refuse'; readonly for: Obstacle; readonly because: 'held' | 'unproven'; readonly why: string }

/** May this session be claimed now, and if not, what has to happen first? Nobody is retired for a claim that would be refused. */
export function decideClaim(view: ClaimView, choice: Choice): ClaimDecision {
  const decision = decideOwner(view, choice)
  const [rival] = choice.onLive === 'takeover' ? view.rivals : []
  // Who takes a conversation over takes it from all that write to it.
  return rival !== undefined && (decision.kind === 'claim' || decision.kind === 'retire') ? { kind: 'retire', run: rival, despite: null } : decision
}

function decideOwner(view: ClaimView, choice: Choice): ClaimDecision {
  const { current, holdings } = view
  const beside = choice.share ? null : aboutHoldings(holdings, choice)
  const forgotten = aboutForgotten(view.forgotten, choice)
  if (forgotten !== null) return forgotten.kind === 'end-forgotten' && beside?.kind === 'refuse' ? beside : forgotten
  if (current === null) return beside ?? { kind: 'claim', seenEpoch: view.epoch }
  const decision = aboutOwner(current, current.run.epoch > view.firstEpoch ? forNewcomer(choice) : choice)
  return decision.kind === 'retire' && beside !== null ? beside : decision
}

/** Somebody else won the race for the same session: that is no owner we were told to replace. */
const forNewcomer = (choice: Choice): Choice => ({ ...choice, onLive: choice.onLive === 'takeover' ? 'refuse' : choice.onLive, force: false })

function aboutOwner({ run, verdict }: Judged, choice: Choice): ClaimDecision {
  const owner: Obstacle = { what: 'session', run }
  if (verdict.kind === 'unknown') return choice.force ? { kind: 'retire', run, despite: verdict.why } : refuse(owner, 'unproven', verdict.why)
  if (verdict.kind !== 'alive' && verdict.kind !== 'starting') return towardsItsEnd(run, verdict)
  if (choice.onLive === 'takeover' || choice.force) return { kind: 'retire', run, despite: null }
  if (choice.onLive === 'wait') return { kind: 'wait', for: owner, why: 'it has a live owner', settling: false }
  if (choice.onLive === 'attach' && verdict.kind === 'alive') return { kind: 'attach', run }
  return refuse(owner, 'held', verdict.kind === 'starting' ? verdict.why : 'it has a live owner')
}

/** One that refuses speaks for all; then one that has to be waited for; what is only to be recorded is recorded together. */
function aboutHoldings(holdings: readonly Holding[], choice: Choice): ClaimDecision | null {
  const decisions = holdings.map((holding) => aboutHolding(holding, choice))
  const first = (kind: ClaimDecision['kind']): ClaimDecision | undefined => decisions.find((decision) => decision.kind === kind)
  const cleared = decisions.filter((decision) => decision.kind === 'clear')
  const together: ClaimDecision | null =
    cleared.length === 0 ? null : { kind: 'clear', ends: cleared.flatMap(({ ends }) => ends), locks: cleared.flatMap(({ locks }) => locks) }
  return first('refuse') ?? together ?? first('wait') ?? null
}

/** What lives of a session is its owner, whatever its rows say. */
function aboutForgotten(forgotten: readonly Holding[], choice: Choice): ClaimDecision | null {
  const [first] = forgotten.filter(({ verdict }) => verdict.kind !== 'free')
  if (first === undefined) return null
  const obstacle: Obstacle = { what: 'forgotten', holding: first }
  if (first.verdict.kind === 'unknown') return refuse(obstacle, 'unproven', first.verdict.why)
  if (choice.onLive === 'takeover' || choice.force) return { kind: 'end-forgotten', lock: first.lock }
  if (choice.onLive === 'wait') return { kind: 'wait', for: obstacle, why: first.verdict.why, settling: false }
  return refuse(obstacle, 'held', first.verdict.why)
}

/** Takeover and force never reach into another session because of a directory; nor is anybody signalled because of one. */
function aboutHolding(holding: Holding, choice: Choice): ClaimDecision {
  const obstacle: Obstacle = { what: 'directory', holding }
  const { verdict, run, lock } = holding
  if (verdict.kind === 'unknown') return refuse(obstacle, 'unproven', verdict.why)
  if (verdict.kind === 'free') {
    // An end that is proven is recorded, and the lock goes with it.
    return run === null || verdict.ending === null
      ? { kind: 'clear', ends: [], locks: [lock] }
      : { kind: 'clear', ends: [{ run, ending: verdict.ending }], locks: [] }
  }
  if (choice.onLive === 'wait') return { kind: 'wait', for: obstacle, why: verdict.why, settling: false }
  return verdict.passing ? { kind: 'wait', for: obstacle, why: verdict.why, settling: true } : refuse(obstacle, 'held', verdict.why)
}

/** What is over, or about to be, is brought to its end whatever the caller chose. */
function towardsItsEnd(run: LiveRun, verdict: Extract<Verdict, { kind: 'over' | 'leftovers' | 'settling' }>): ClaimDecision {
  if (verdict.kind === 'over') return { kind: 'clear', ends: [{ run, ending: verdict.ending }], locks: [] }
  if (verdict.kind === 'leftovers') return { kind: 'end-leftovers', run }
  return { kind: 'wait', for: { what: 'session', run }, why: verdict.why, settling: true }
}

const refuse = (obstacle: Obstacle, because: 'held' | 'unproven', why: string): ClaimDecision => ({ kind: 'refuse', for: obstacle, because, why })

/** The live run of a view, if there is one to be judged. */
export const toJudge = (run: Run | null): LiveRun | null => (run !== null && isLive(run) ? run : null)
