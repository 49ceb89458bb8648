import { breather, type Change, carryOut, type FailedRun, freeLocks, type PendingStep, realClock, survey, type World } from '../../app/index.ts'
import { policy } from '../../model/index.ts'
import type { Daemon } from '../daemon.ts'
import type { Part } from '../frame/loop.ts'
import { type Outcome, openEndings } from './background-endings.ts'
import { openEars } from './due-runs.ts'
import { openPatience, whatOf } from './patience.ts'
import { openRetries } from './retries.ts'
import type { RunFileListener } from './watch-part.ts'

export type Reconciling = { readonly part: Part; readonly onRunFile: RunFileListener }

/**
 * Looks at every live run at its own pace, and between that at those that something happened to. The first round is the adoption: what ended
 * meanwhile is finished from its evidence, what lives is known again, and what cannot be judged stays as it is. Decided is for all first; what
 * only has to be recorded is recorded at once, and what takes a grace goes on apart from the rounds.
 */
export function reconcilePart(daemon: Daemon, clock = realClock): Reconciling {
  const ears = openEars(clock, () => daemon.wake('reconcile'))
  const patience = openPatience(clock)
  const retries = openRetries(clock)
  const endings = openEndings(daemon, (run) => ears.touch(run))
  const sick = new Map<string, string>()
  let counts: Record<string, number> = {}
  let adopted: number | null = null
  let fullAt = Number.NEGATIVE_INFINITY
  let thoroughAt = Number.NEGATIVE_INFINITY
  let pace: NodeJS.Timeout | null = null

  /** However much there is to hear, all are looked at in time. */
  const paceSoon = (ms: number): void => {
    pace ??= setTimeout(
      () => {
        pace = null
        daemon.wake('reconcile')
      },
      Math.max(0, ms),
    ).unref()
  }

  async function round(world: World): Promise<Record<string, number>> {
    const began = clock.elapsed()
    const heard = ears.take()
    const isFull = adopted === null || began - fullAt >= policy.daemonPaceMs || heard.length === 0 || heard.length > policy.daemonHeard
    const thorough = isFull && adopted !== null && began - thoroughAt >= policy.daemonThoroughMs
    const store = await world.store('writer')
    // Before anything is begun again.
    const carried = endings.take().flatMap(heedOutcome)
    const seen = await survey(world, store, { ...(isFull ? {} : { only: heard }), thorough, patienceMs: policy.daemonPatienceMs })
    if (isFull) sick.clear()
    for (const one of seen.sick) noteSick(one)
    const changes = [...carried, ...(await act(world, store, seen.due))]
    for (const change of changes.filter(({ from, to }) => from !== to))
      daemon.log(`reconcile: session ${change.session}, run ${change.run}: ${change.from} → ${change.to}: ${change.why}`)
    if (!isFull) {
      paceSoon(fullAt + policy.daemonPaceMs - clock.elapsed())
      return { ...counts, changes: (counts['changes'] ?? 0) + changes.length, endings: endings.size() }
    }
    await freeLocks(world, store)
    fullAt = began
    if (thorough) thoroughAt = began
    const live = new Set(seen.due.map(({ run }) => run.id))
    patience.keep(live)
    retries.keep(live)
    const unknown = seen.due.filter(({ judged }) => judged.kind === 'unknown').length
    const alive = seen.due.filter(({ judged }) => judged.kind === 'alive' || judged.kind === 'starting').length
    if (adopted === null)
      daemon.log(
        `reconcile: adopted ${alive} runs in ${Math.round(clock.elapsed() - began)} ms; ${unknown} cannot be judged, ${changes.length} ended meanwhile`,
      )
    adopted ??= alive
    return {
      runs: seen.due.length,
      alive,
      unknown,
      sick: sick.size,
      stuck: retries.whys().length,
      changes: changes.length,
      endings: endings.size(),
      adopted,
      ms: Math.round(clock.elapsed() - began),
    }
  }

  /** What is over is recorded now, as long as that does not take too long (a busy store); what takes a grace, also of a run that was started in it, is handed on. */
  async function act(world: World, store: Awaited<ReturnType<World['store']>>, due: readonly PendingStep[]): Promise<Change[]> {
    const changes: Change[] = []
    const until = clock.elapsed() + policy.settleMs
    const breathe = breather(clock)
    for (const one of due) {
      const { run, want } = one
      await breathe()
      if (want === null) patience.forget(run.id)
      if (want === null || endings.has(run.id)) continue
      const leftMs = Math.max(patience.leftMs(one), retries.leftMs(run.id, whatOf(want)))
      if (leftMs > 0 || clock.elapsed() >= until) ears.touch(run.id, leftMs)
      else if (want.kind !== 'finish' || (await store.runs.children(run.id)).length > 0) {
        if (!endings.begin(one)) ears.touch(run.id, policy.daemonPatienceMs)
      } else {
        try {
          const { change } = await carryOut(world, store, one)
          if (change !== null) changes.push(change)
        } catch (error) {
          noteSick({ run: run.id, session: run.session, error })
        }
      }
    }
    return changes
  }

  /** What did not come about is tried again, but not at once, and those who ask how we do hear of it. */
  function heedOutcome({ due: { run, want }, change, stuck, error }: Outcome): Change[] {
    const why = error === null ? stuck : error instanceof Error ? error.message : String(error)
    if (why === null || want === null) retries.done(run.id)
    else retries.failed(run.id, whatOf(want), `session ${run.session}: ${why}`)
    return change === null ? [] : [change]
  }

  const noteSick = ({ run, session, error }: FailedRun): void =>
    void sick.set(run, `${session === null ? '' : `session ${session}, `}run ${run}: ${error instanceof Error ? error.message : String(error)}`)

  return {
    onRunFile: (run, name) => {
      if (TELLING.test(name)) ears.touch(run)
    },
    part: {
      name: 'reconcile',
      everyMs: policy.daemonPaceMs,
      async round() {
        counts = await daemon.worlds.use(round)
        return counts
      },
      trouble: () => {
        const all = [...sick.values(), ...retries.whys()]
        return all.length === 0 ? null : all.slice(0, policy.namedAtMost).join('; ')
      },
      async close() {
        ears.close()
        if (pace !== null) clearTimeout(pace)
        await endings.close()
      },
    },
  }
}

/** What of a run's directory tells that something follows: how it ended, that it could not start, that somebody wants its end; or nobody knows. */
const TELLING = /^(|exit|nostart|retired|cgroup\.events)$/
