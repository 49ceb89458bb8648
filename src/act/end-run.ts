import { converge, endingOf, judgePlace, verdict } from '../decide/index.ts'
import type { Ending, Intent, LiveRun, Member, ProcessId, Run, Store, Survivor } from '../model/index.ts'
import { isLive, Problem } from '../model/index.ts'
import { endTree, type Hands, isThere, untilGone } from './end-tree.ts'
import { lookAt } from './look.ts'

export type Ender = Hands & { readonly store: Store }

export type RunEnd =
  | { readonly kind: 'ended'; readonly run: Run; readonly ended: readonly Member[]; readonly unrecorded: Error | null }
  | { readonly kind: 'survivors'; readonly run: Run; readonly survivors: readonly Survivor[]; readonly ended: readonly Member[] }
  | { readonly kind: 'unknown'; readonly run: Run; readonly why: string }
  /** Its owner is alive, and nobody asked for its end. */
  | { readonly kind: 'alive'; readonly run: Run }

export type How = {
  /** Null: only finish what is over by itself. */
  readonly intent: Intent | null
  readonly graceMs: number
  readonly told?: ProcessId | null
  /** Unknown is overridden by a person (--force). */
  readonly despiteUnknown?: boolean
}

/**
 * Brings a run to its end and proves it. With an intent it retires it: tombstone, `stopping` on record, the tree ended, seen
 * empty, recorded. Without one it finishes what ended by itself, leftovers included. Doing it twice does no harm.
 */
export async function endRun(first: LiveRun, ender: Ender, how: How): Promise<RunEnd> {
  // What cannot be judged is left exactly as it is: no tombstone, no `stopping`.
  const atFirst = verdict(first, lookAt(first, ender))
  if (atFirst.kind === 'unknown' && !how.despiteUnknown) return { kind: 'unknown', run: first, why: atFirst.why }
  const trouble = how.intent === null ? null : await announce(first, how.intent, ender)
  const ended: Member[] = []
  const until = ender.clock.elapsed() + ender.policy.settleMs + how.graceMs + ender.policy.killMs
  let run: LiveRun = trouble === null ? first : { ...first, state: 'stopping', intent: how.intent, exit: null, survivors: [] }
  for (let settlingSince: number | null = null; ; ) {
    if (trouble === null) {
      const current = await ender.store.run(first.id)
      if (current === null || !isLive(current)) return { kind: 'ended', run: current ?? first, ended, unrecorded: null }
      run = current
    }
    const seen = lookAt(run, ender)
    const judged = verdict(run, seen)
    const step = converge(run, judged, { now: ender.clock.now(), maySignal: true, parentEnded: false })
    if (step.kind === 'record-end') return record(run, step.ending, seen.harnessId, ended, trouble, ender)
    if (judged.kind === 'unknown') {
      if (!how.despiteUnknown) return { kind: 'unknown', run, why: judged.why }
      return overrideUnknown(run, judged.why, how, ended, ender)
    }
    if (judged.kind === 'settling') {
      settlingSince ??= ender.clock.elapsed()
      if (ender.clock.elapsed() - settlingSince < ender.policy.exitRecordMs) await ender.clock.sleep(ender.policy.pollMinMs * 5)
      else if (run.keeper !== null) return record(run, endingOf(run, seen), seen.harnessId, ended, trouble, ender)
      else ended.push(...(await endTree(run, ender, how)).ended)
      continue
    }
    // A timeout or an orphan needs an intent of its own, which only a reconcile brings.
    if (step.kind !== 'end-tree' || (how.intent === null && step.why !== 'leftovers' && step.why !== 'asked')) return { kind: 'alive', run }
    if (judged.kind === 'leftovers' && trouble === null && run.state === 'running')
      await ender.store.recordExited(run, judged.exit, ender.clock.now())
    nudgeKeeper(run, judged.kind === 'starting', ender)
    const leftovers = judged.kind === 'leftovers' && how.intent === null
    const outcome = await endTree(run, ender, { graceMs: leftovers ? ender.policy.leftoverGraceMs : how.graceMs, told: how.told ?? null })
    ended.push(...outcome.ended.filter((member) => !ended.some((known) => known.row.pid === member.row.pid && known.row.ticks === member.row.ticks)))
    if (outcome.survivors.length > 0) {
      if (trouble === null) await ender.store.recordSurvivors(run, outcome.survivors, ender.clock.now())
      return { kind: 'survivors', run, survivors: outcome.survivors, ended }
    }
    if (outcome.blind !== null) return { kind: 'unknown', run, why: outcome.blind }
    if (ender.clock.elapsed() >= until) return { kind: 'unknown', run, why: 'its launcher or keeper is alive and does not go on' }
    if (run.keeper === null || judged.kind === 'starting') await ender.clock.sleep(ender.policy.pollMaxMs)
    else await untilKeeperWrote(run, ender)
  }
}

/** The intent goes first: tombstone, then the store. A store that cannot be written must not make an agent unstoppable. */
async function announce(run: LiveRun, intent: Intent, ender: Ender): Promise<Error | null> {
  ender.files.retire(run.id)
  try {
    await ender.store.recordAsked(run, intent, ender.clock.now())
    return null
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error
  }
}

/** A keeper that has no harness yet must not get one any more; a frozen one must be able to leave. */
function nudgeKeeper(run: LiveRun, beforeHarness: boolean, { processes }: Ender): void {
  if (run.keeper === null) return
  if (beforeHarness) processes.send(run.keeper, 'SIGTERM')
  processes.send(run.keeper, 'SIGCONT')
}

/** Its tree is gone; a living keeper now writes how the harness ended. */
async function untilKeeperWrote(run: LiveRun, ender: Ender): Promise<void> {
  const until = ender.clock.elapsed() + ender.policy.exitRecordMs
  while (run.keeper !== null && ender.files.exit(run.id) === null && isThere(run.keeper, ender.processes) && ender.clock.elapsed() < until) {
    await ender.clock.sleep(ender.policy.pollMinMs)
  }
}

async function record(
  run: LiveRun,
  ending: Ending,
  harness: ProcessId | null,
  ended: Member[],
  trouble: Error | null,
  ender: Ender,
): Promise<RunEnd> {
  const at = ender.clock.now()
  endTimer(run, ender)
  let unrecorded: Error | null = null
  try {
    await ender.store.recordEnded(run, ending, harness, at)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    unrecorded = trouble ?? error
  }
  const current = unrecorded === null ? await ender.store.run(run.id) : null
  return { kind: 'ended', run: current ?? { ...run, ...ending, harness, endedAt: at }, ended, unrecorded }
}

/** A keeper that was killed could not take its timer with it. */
function endTimer(run: LiveRun, { files, processes }: Ender): void {
  const timer = files.timer(run.id)
  if (timer !== null && processes.here().boot === run.place.boot && processes.here().pidNamespace === run.place.pidNamespace)
    processes.send(timer, 'SIGTERM')
}

/** A person overrode what could not be proven: end all that can be found, and say on record who answers for the rest. */
async function overrideUnknown(run: LiveRun, why: string, how: How, ended: Member[], ender: Ender): Promise<RunEnd> {
  if (judgePlace(ender.processes.here(), run.place) === null) {
    const outcome = await endTree(run, ender, how)
    ended.push(...outcome.ended)
    if (outcome.survivors.length > 0) return { kind: 'survivors', run, survivors: outcome.survivors, ended }
  }
  const by = how.intent?.by ?? 'somebody'
  const ending: Ending = {
    state: 'lost',
    exit: null,
    by,
    reason: `${how.intent?.reason ?? 'overridden'}; its end could not be proven (${why}) and was overridden with --force`,
    evidence: [`unproven: ${why}`, `testimony of ${by} (--force)`],
  }
  return record(run, ending, ender.files.harness(run.id), ended, null, ender)
}

/** Waits a little for the keeper itself to leave, so that "stopped" also means that nothing of ours is left. */
export async function untilKeeperLeft(run: Run, hands: Hands): Promise<void> {
  if (run.keeper !== null && judgePlace(hands.processes.here(), run.place) === null) await untilGone([run.keeper], hands, hands.policy.keeperLeaveMs)
}
