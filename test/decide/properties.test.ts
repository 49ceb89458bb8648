import fc from 'fast-check'
import { expect } from 'vitest'
import type { Choice, ClaimView, Judged, Seen } from '../../src/decide/index.ts'
import { converge, decideClaim, lockVerdict, toJudge, verdict } from '../../src/decide/index.ts'
import type { Ended, LiveRun } from '../../src/model/index.ts'
import { intentOf, isLive, RUN_EVENTS, RUN_TABLE } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { abouts, choices, empty, goneFacts, holding, intents, liveRuns, looks, maybe, NOW, record, unknownFacts } from './build.ts'

const RUNS = { numRuns: 3000 }
const judge = ([run, seen]: readonly [LiveRun, Seen]): Judged => ({ run, verdict: verdict(run, seen) })
const judged = looks.map(judge)
const views: fc.Arbitrary<ClaimView> = fc.record({
  epoch: fc.constant(3),
  firstEpoch: fc.constantFrom(2, 3),
  current: maybe(judged),
  holdings: fc.array(
    looks.map(([run, seen]) => holding({ ...run, id: 'r2', session: 's2' }, lockVerdict(run, seen, null))),
    { maxLength: 3 },
  ),
  forgotten: fc.constant([]),
  rivals: fc.constant([]),
})
const alone = (over: Partial<ClaimView>): ClaimView => ({ epoch: 3, firstEpoch: 3, current: null, holdings: [], forgotten: [], rivals: [], ...over })

/** Nothing of it is proven alive, and at least one thing that had to be proven could not be. */
const doubtful: fc.Arbitrary<readonly [LiveRun, Seen]> = liveRuns.chain((run) => {
  const notAlive = fc.oneof(goneFacts, unknownFacts)
  const seen = fc.record({
    launcher: notAlive,
    keeper: run.keeper === null ? fc.constant(null) : notAlive,
    harness: maybe(notAlive),
    tree: fc.oneof(fc.constant(empty), fc.constant(null), unknownFacts),
    exit: maybe(fc.nat(255).map((code) => record(code))),
    notStarted: maybe(fc.constant(127)),
    intent: intents,
  })
  // Without a keeper the launcher is the first key, unless something of the run has been seen already.
  const inDoubt = ({ launcher, keeper, harness, tree, exit }: Seen): boolean =>
    [harness, tree, keeper, keeper === null && harness === null && exit === null ? launcher : null].some((fact) => fact?.kind === 'unknown') ||
    tree === null
  return fc.tuple(fc.constant(run), seen.filter(inDoubt))
})

verifies('one-owner', 'nothing is claimed while an owner is on record, nor beside a neighbour without --share', () => {
  fc.assert(
    fc.property(views, choices, (view, choice) => {
      const free = view.current === null && (view.holdings.length === 0 || choice.share)
      expect(decideClaim(view, choice).kind === 'claim').toBe(free)
    }),
    RUNS,
  )
})

verifies('one-owner', 'a live owner is retired only by whoever asked for it, and only if it was there when they asked', () => {
  fc.assert(
    fc.property(views, choices, (view, choice) => {
      const decision = decideClaim(view, choice)
      if (decision.kind !== 'retire') return
      expect(decision.run).toBe(view.current?.run)
      expect(choice.onLive === 'takeover' || choice.force).toBe(true)
      expect(decision.run.epoch).toBeLessThanOrEqual(view.firstEpoch)
    }),
    RUNS,
  )
})

verifies('unknown', 'a claim never ends, frees or retires what could not be proven, unless a person says --force', () => {
  fc.assert(
    fc.property(doubtful, choices, (look, choice) => {
      const refusal = { kind: 'refuse', because: 'unproven' }
      const calm: Choice = { ...choice, force: false }
      expect(decideClaim(alone({ current: judge(look) }), calm)).toMatchObject(refusal)
      expect(decideClaim(alone({ holdings: [holding(look[0], lockVerdict(look[0], look[1], null))] }), { ...choice, share: false })).toMatchObject(
        refusal,
      )
      const forced = decideClaim(alone({ current: judge(look) }), { ...choice, force: true })
      expect(forced).toMatchObject({ kind: 'retire', despite: expect.any(String) })
    }),
    RUNS,
  )
})

verifies('unknown', 'a reconcile keeps what could not be proven, even when asked, late or orphaned', () => {
  fc.assert(
    fc.property(doubtful, abouts, ([run, seen], about) => {
      expect(converge(run, verdict(run, seen), about).kind).toBe('keep')
    }),
    RUNS,
  )
})

verifies('innocent', 'who only reads ends nothing', () => {
  fc.assert(
    fc.property(judged, abouts, ({ run, verdict: of }, about) => {
      expect(converge(run, of, { ...about, maySignal: false }).kind).not.toBe('end-tree')
    }),
    RUNS,
  )
})

verifies('final', 'deciding is pure, and once an ending is applied there is nothing left to decide', () => {
  fc.assert(
    fc.property(looks, views, choices, abouts, ([run, seen], view, choice, about) => {
      freeze([run, seen, view, choice, about])
      const of = verdict(run, seen)
      expect(verdict(run, seen)).toEqual(of)
      expect(decideClaim(view, choice)).toEqual(decideClaim(view, choice))
      const step = converge(run, of, about)
      expect(converge(run, of, about)).toEqual(step)
      if (step.kind !== 'record-end') return
      expect(RUN_TABLE[run.state][step.ending.state]).toBe(step.ending.state)
      const after: Ended = { ...run, ...step.ending, harness: null, endedAt: NOW }
      expect(isLive(after)).toBe(false)
      for (const event of RUN_EVENTS) expect(RUN_TABLE[after.state][event]).toBe('refused')
      expect(toJudge(after)).toBeNull()
    }),
    RUNS,
  )
})

verifies('one-owner', 'over means: an empty tree, and a keeper that is gone, never was, or has left evidence', () => {
  fc.assert(
    fc.property(looks, ([run, seen]) => {
      if (verdict(run, seen).kind !== 'over') return
      const { keeper, launcher } = seen
      expect(seen.tree).toEqual(empty)
      expect(seen.harness?.kind).not.toBe('alive')
      // Asked to end before a keeper was on record: then none gets there any more, whatever the launcher does.
      // A row that has lost its keeper: it wrote the end, or the one that the run's directory names is gone.
      const other = seen.unrecordedKeeper ?? null
      const turned = seen.exit !== null || other?.kind === 'gone' || (other?.kind === 'alive' && hasEvidence(run, seen))
      if (keeper === null) expect(seen.harness === null || turned).toBe(true)
      if (keeper === null && run.state !== 'stopping') expect(launcher.kind).toBe('gone')
      if (keeper !== null) expect(keeper.kind === 'gone' || (keeper.kind === 'alive' && hasEvidence(run, seen))).toBe(true)
    }),
    RUNS,
  )
})

verifies('evidence', 'an ending has an exit only if something told it, and completes only on exit code 0', () => {
  fc.assert(
    fc.property(looks, ([run, seen]) => {
      const of = verdict(run, seen)
      if (of.kind !== 'over') return
      const { ending } = of
      if (ending.exit !== null) expect(hasEvidence(run, seen)).toBe(true)
      if (ending.state === 'completed') expect(ending.exit).toEqual({ code: 0, signal: null })
      if (ending.state === 'lost') expect(ending.exit).toBeNull()
      if (ending.state === 'superseded') expect((intentOf(run) ?? seen.intent)?.end).toBe('superseded')
      expect(ending.reason.length * ending.by.length * ending.evidence.length).toBeGreaterThan(0)
    }),
    RUNS,
  )
})

/** A keeper's record, a zombie's own status (or what is on record of it), or a stub that could not start. */
const hasEvidence = (run: LiveRun, { exit, harness, notStarted }: Seen): boolean =>
  exit !== null || notStarted !== null || (harness?.kind === 'gone' && harness.waitStatus !== null) || (run.state === 'stopping' && run.exit !== null)

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  Object.values(value).forEach(freeze)
}
