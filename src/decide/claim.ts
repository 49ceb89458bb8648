import type { Ending, LiveRun, Run } from '../model/index.ts'
import { isLive } from '../model/index.ts'
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
  /** Another session's run in the same directory. */
  readonly neighbour: Judged | null
}

export type ClaimDecision =
  | { readonly kind: 'claim'; readonly seenEpoch: number }
  | { readonly kind: 'record-end'; readonly run: LiveRun; readonly ending: Ending }
  | { readonly kind: 'end-leftovers'; readonly run: LiveRun }
  | { readonly kind: 'retire'; readonly run: LiveRun; readonly despite: string | null }
  | { readonly kind: 'attach'; readonly run: LiveRun }
  | { readonly kind: 'wait'; readonly run: LiveRun; readonly why: string; readonly settling: boolean }
  | {
      readonly kind: 'refuse'
      readonly run: LiveRun
      readonly because: 'held' | 'unproven'
      readonly why: string
      readonly what: 'session' | 'directory'
    }

/** May this session be claimed now, and if not, what has to happen first? Nobody is retired for a claim that would be refused. */
export function decideClaim(view: ClaimView, choice: Choice): ClaimDecision {
  const { current, neighbour } = view
  const beside = neighbour === null || choice.share ? null : aboutNeighbour(neighbour, choice)
  if (current === null) return beside ?? { kind: 'claim', seenEpoch: view.epoch }
  const decision = aboutOwner(current, current.run.epoch > view.firstEpoch ? forNewcomer(choice) : choice)
  return decision.kind === 'retire' && beside !== null ? beside : decision
}

/** Somebody else won the race for the same session: that is no owner we were told to replace. */
const forNewcomer = (choice: Choice): Choice => ({ ...choice, onLive: choice.onLive === 'takeover' ? 'refuse' : choice.onLive, force: false })

function aboutOwner({ run, verdict }: Judged, choice: Choice): ClaimDecision {
  if (verdict.kind === 'unknown')
    return choice.force ? { kind: 'retire', run, despite: verdict.why } : refuse(run, 'unproven', verdict.why, 'session')
  if (verdict.kind !== 'alive' && verdict.kind !== 'starting') return towardsItsEnd(run, verdict)
  if (choice.onLive === 'takeover' || choice.force) return { kind: 'retire', run, despite: null }
  if (choice.onLive === 'wait') return { kind: 'wait', run, why: 'it has a live owner', settling: false }
  if (choice.onLive === 'attach' && verdict.kind === 'alive') return { kind: 'attach', run }
  return refuse(run, 'held', verdict.kind === 'starting' ? verdict.why : 'it has a live owner', 'session')
}

/** Takeover and force never reach into another session because of a directory. */
function aboutNeighbour({ run, verdict }: Judged, choice: Choice): ClaimDecision {
  if (verdict.kind === 'unknown') return refuse(run, 'unproven', verdict.why, 'directory')
  if (verdict.kind !== 'alive' && verdict.kind !== 'starting') return towardsItsEnd(run, verdict)
  if (choice.onLive === 'wait') return { kind: 'wait', run, why: 'its directory is in use', settling: false }
  return refuse(run, 'held', 'its directory is in use', 'directory')
}

/** What is over, or about to be, is brought to its end whatever the caller chose. */
function towardsItsEnd(run: LiveRun, verdict: Extract<Verdict, { kind: 'over' | 'leftovers' | 'settling' }>): ClaimDecision {
  if (verdict.kind === 'over') return { kind: 'record-end', run, ending: verdict.ending }
  if (verdict.kind === 'leftovers') return { kind: 'end-leftovers', run }
  return { kind: 'wait', run, why: verdict.why, settling: true }
}

const refuse = (run: LiveRun, because: 'held' | 'unproven', why: string, what: 'session' | 'directory'): ClaimDecision => ({
  kind: 'refuse',
  run,
  because,
  why,
  what,
})

/** The live run of a view, if there is one to be judged. */
export const toJudge = (run: Run | null): LiveRun | null => (run !== null && isLive(run) ? run : null)
