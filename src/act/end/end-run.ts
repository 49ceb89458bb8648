import type { Verdict } from '../../decide/index.ts'
import { converge, endedAt, verdict, whatBecomesOf, withNestedAgents } from '../../decide/index.ts'
import type { Agent, Ending, Intent, LiveRun, Member, Run, RunEnd, Spared, Store, Survivor } from '../../model/index.ts'
import { BY, isByPerson, isLive, Problem, sameProcess } from '../../model/index.ts'
import { isHere, type Looked, lookAt } from '../look/look.ts'
import type { EndPorts } from '../ports.ts'
import { endTree, type Told } from './end-tree.ts'
import { endGuard, endTimer, guardOf, nudgeKeeper, settleKeeper, untilKeeperWrote } from './keeper.ts'
import { release, usageOf } from './release-cgroup.ts'
import { isThere, untilGone } from './wait-until-gone.ts'

export type { RunEnd }
export type EndRunPorts = EndPorts & {
  readonly store: Store
  /** Its agent is over: what it has left of itself is looked at before its end is on record, since later nobody may. */
  readonly learnAtEnd: (run: LiveRun) => Promise<void>
  /** Agents that a harness started by itself and that ended with it are put on record, with what they had burned. */
  readonly recordNestedAgents: (run: Run, agents: readonly Agent[]) => Promise<void>
}

export type How = {
  /** Null: only finish what is over by itself. */
  readonly intent: Intent | null
  readonly graceMs: number
  /** Who has heard of it already. */
  readonly told?: Told
  /** Unknown is overridden by a person (--force). */
  readonly despiteUnknown?: boolean
  /** How many runs it is started in. */
  readonly depth?: number
}

/**
 * Brings a run, and the runs that were started in it, to an end and proves it. With an intent it retires it: tombstone, `stopping`
 * on record, children and tree ended, seen empty, recorded. Without one it finishes what ended by itself, leftovers included. An
 * agent that is over already keeps the end it had. Doing it twice does no harm. `justSeen`: what is over stays over, and need not be
 * looked at once more.
 */
export async function endRun(first: LiveRun, ender: EndRunPorts, how: How, justSeen?: Looked): Promise<RunEnd> {
  const tally: Tally = { ended: [], spared: [], agents: [] }
  // What cannot be judged is left exactly as it is: no tombstone, no `stopping`. What is over needs nobody to ask for it.
  const seenFirst = justSeen ?? (await lookAt(first, ender))
  const atFirst = verdict(first, seenFirst)
  if (atFirst.kind === 'unknown' && !how.despiteUnknown) return { kind: 'unknown', run: first, why: atFirst.why }
  const asks = how.intent !== null && (atFirst.kind === 'alive' || atFirst.kind === 'starting' || atFirst.kind === 'unknown')
  const trouble = asks && how.intent !== null ? await announce(first, { ...how.intent, graceMs: how.graceMs }, ender) : null
  let run: LiveRun = trouble === null || how.intent === null ? first : { ...first, state: 'stopping', intent: how.intent, exit: null, survivors: [] }
  const until = ender.clock.elapsed() + ender.policy.settleMs + how.graceMs + ender.policy.killMs
  for (let settlingSince: number | null = null, over = justSeen !== undefined && atFirst.kind === 'over'; ; over = false) {
    if (trouble === null) {
      const current = await ender.store.runs.get(first.id)
      if (current === null || !isLive(current)) return finished(current ?? first, tally, how, ender)
      run = current
    }
    const seen = over && isAsBefore(run, first) ? seenFirst : await lookAt(run, ender)
    const judged = verdict(run, seen)
    // A store that was not told cannot keep a launcher from going on.
    if (trouble !== null && run.keeper === null && seen.launcher.kind === 'alive')
      return { kind: 'unknown', run, why: 'its launcher is at work, and the store cannot be told' }
    if (judged.kind === 'over') {
      addSpared(tally, seen.tree?.kind === 'empty' ? (seen.tree.spared ?? []) : [])
      await ender.learnAtEnd(run)
      const told = { ...withNestedAgents(asAsked(judged.ending, how), tally.ended, tally.spared), usage: usageOf(run, [], ender) }
      let unrecorded = await record(run, told, seen, trouble, ender)
      // The store was not told that it shall end, and can be told by now: perhaps its own agent kept it locked.
      if (unrecorded === 'untold' && how.intent !== null) {
        await announce(first, { ...how.intent, graceMs: how.graceMs }, ender)
        unrecorded = await record(run, told, seen, trouble, ender)
      }
      if (unrecorded === 'untold') unrecorded = trouble
      if (unrecorded === 'look-again') continue
      const ending = { ...run, ...told, harness: seen.harnessId, endedAt: ender.clock.now() }
      return finished((unrecorded === null ? await ender.store.runs.get(run.id) : null) ?? ending, tally, how, ender, unrecorded)
    }
    if (judged.kind === 'unknown')
      return how.despiteUnknown ? overrideUnknown(run, judged.why, how, tally, ender) : { kind: 'unknown', run, why: judged.why }
    if (ender.clock.elapsed() >= until) return { kind: 'unknown', run, why: 'its launcher or keeper is alive and does not go on' }
    if (judged.kind === 'settling') {
      settlingSince ??= ender.clock.elapsed()
      await settleKeeper(run, ender.clock.elapsed() - settlingSince, ender)
      continue
    }
    const step = converge(run, judged, { ranMs: 0, maySignal: true, parentEnded: false })
    // A timeout or an orphan needs an intent of its own, which only a reconcile brings; here they are not looked for.
    if (step.kind !== 'end-tree') return { kind: 'alive', run }
    const stuck = await endOnce(run, judged, how, tally, trouble, ender)
    if (stuck !== null) return stuck
  }
}

/** A takeover that ends what an earlier one could not end takes its place after all. */
const asAsked = (ending: Ending, { intent }: How): Ending =>
  intent?.end === 'superseded' && ending.state === 'stopped' ? { ...ending, state: 'superseded', by: intent.by, reason: intent.reason } : ending

/** On record, it is what it was when it was looked at. */
const isAsBefore = (run: LiveRun, first: LiveRun): boolean =>
  run.state === first.state && run.epoch === first.epoch && run.keeper?.pid === first.keeper?.pid && run.keeper?.ticks === first.keeper?.ticks

const withoutSurvivors = (ended: readonly Member[], survivors: readonly Survivor[]): Member[] =>
  ended.filter(({ row }) => !survivors.some(({ pid }) => pid === row.pid))

/** Who was ended on the way, and who was left alone. */
type Tally = { readonly ended: Member[]; readonly spared: Spared[]; readonly agents: Agent[] }
const addEnded = ({ ended }: Tally, members: readonly Member[]): void =>
  void ended.push(...members.filter(({ row }) => !ended.some((known) => sameProcess(known.row, row))))
const addSpared = ({ spared }: Tally, more: readonly Spared[]): void =>
  void spared.push(...more.filter(({ row }) => !spared.some((known) => sameProcess(known.row, row))))

/** One round: what was started in it, then its own tree. Null: it may be over now. */
async function endOnce(run: LiveRun, judged: Verdict, how: How, tally: Tally, trouble: Error | null, ender: EndRunPorts): Promise<RunEnd | null> {
  if (judged.kind === 'leftovers' && run.state === 'running')
    await orLater(() => ender.store.claims.recordExited(run, judged.exit, ender.clock.now()))
  nudgeKeeper(run, judged.kind === 'starting', ender)
  const leftovers = judged.kind === 'leftovers' && how.intent === null
  const graceMs = leftovers ? ender.policy.leftoverGraceMs : how.graceMs
  // From here on the store refuses new runs in it. One that cannot be ended does not keep its parent alive; it is told of in the end.
  const [outcome] = await Promise.all([
    endTree(run, ender, { graceMs, ...(how.told === undefined ? {} : { told: how.told }) }),
    endChildren(run, how, tally, ender),
  ])
  addEnded(tally, outcome.ended)
  addSpared(tally, outcome.spared)
  tally.agents.push(...outcome.agents)
  if (outcome.survivors.length > 0) {
    if (trouble === null) await orLater(() => ender.store.claims.recordSurvivors(run, outcome.survivors, ender.clock.now()))
    return { kind: 'survivors', run, survivors: outcome.survivors, ended: withoutSurvivors(tally.ended, outcome.survivors) }
  }
  if (outcome.blind !== null) return { kind: 'unknown', run, why: outcome.blind }
  if (run.keeper === null || judged.kind === 'starting') await ender.clock.sleep(ender.policy.pollMaxMs)
  else await untilKeeperWrote(run, ender)
  return null
}

/** The runs that were started in it, unless they are independent. Null: none is left; else what came of the first that could not be ended. */
async function endChildren(run: Run, how: How, tally: Tally, ender: EndRunPorts): Promise<RunEnd | null> {
  const depth = (how.depth ?? 0) + 1
  if (depth > ender.policy.nestingDepth) return null
  const children = await ender.store.runs.children(run.id).catch(() => [])
  const ends = await Promise.all(children.map((child) => endChild(child, run, { ...how, depth }, ender)))
  for (const end of ends) {
    if (end?.kind !== 'ended') continue
    addEnded(tally, end.ended)
    addSpared(tally, end.spared)
  }
  return ends.find((end) => end?.kind === 'survivors' || end?.kind === 'unknown') ?? null
}

function endChild(child: LiveRun, parent: Run, how: How & { depth: number }, ender: EndRunPorts): Promise<RunEnd | null> {
  const fate = whatBecomesOf(child, parent, how.intent, how.depth === 1)
  if (fate.kind === 'leave') return Promise.resolve(null)
  const reason = `the session it was started in (${parent.session}) ended${how.intent === null ? '' : `: ${how.intent.reason}`}`
  const graceMs = how.intent === null ? ender.policy.leftoverGraceMs : how.graceMs
  // What a person overrides for one session is not overridden for others.
  const by = how.intent !== null && isByPerson(how.intent.by) ? how.intent.by : BY.orphan
  return endRun(child, ender, { ...how, despiteUnknown: false, intent: { end: fate.as, by, reason }, graceMs })
}

/** What an ended run has left: whoever recorded its end may not have been one who ends anything. */
export const endWhatIsLeft = (run: Run, ender: EndRunPorts, how: How): Promise<RunEnd> =>
  finished(run, { ended: [], spared: [], agents: [] }, how, ender)

/** Over and on record. A run that was claimed in it at the last moment still has to go. */
async function finished(run: Run, tally: Tally, how: How, ender: EndRunPorts, unrecorded: Error | null = null): Promise<RunEnd> {
  const stuck = await endChildren(run, how, tally, ender)
  await release(run, ender)
  if (unrecorded === null) await ender.recordNestedAgents(run, tally.agents)
  ender.runLogs.cap(run.id)
  // Its keeper may go: nothing is left for it to see to.
  if (!isLive(run) && unrecorded === null && run.keeper !== null && isHere(run, ender)) {
    if (isThere(run.keeper, ender.processes)) ender.runRecords.settle(run.id)
    else endGuard(run, ender)
  }
  return stuck ?? { kind: 'ended', run, ended: tally.ended, spared: tally.spared, unrecorded }
}

/** The intent goes first: tombstone, then the store. A store that cannot be written must not make an agent unstoppable. */
async function announce(run: LiveRun, intent: Intent, ender: EndRunPorts): Promise<Error | null> {
  const noted = ender.fences.retire(run.id, intent)
  const trouble = await orLater(() => ender.store.claims.recordAsked(run, intent, ender.clock.now()))
  // Where nothing can be written, its keeper is told: what it was told it writes down itself, if it can.
  if (!noted && trouble !== null && run.keeper !== null && isHere(run, ender)) ender.processes.send(run.keeper, 'SIGTERM')
  return trouble
}

/** The trouble, if the store could not be told; the evidence on disk stays for a later look. */
async function orLater(write: () => Promise<boolean>): Promise<Error | null> {
  try {
    await write()
    return null
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error
  }
}

async function record(
  run: LiveRun,
  ending: Ending,
  seen: Looked,
  trouble: Error | null,
  ender: EndRunPorts,
): Promise<Error | 'look-again' | 'untold' | null> {
  endTimer(run, ender)
  let written = false
  const unwritten = await orLater(async () => {
    written = await ender.store.claims.recordEnded(run, ending, seen.harnessId, endedAt(run, seen.exit, ender.clock.now()))
    return written
  })
  if (unwritten !== null) return trouble ?? unwritten
  // Nothing was changed: the run is not what it was when we looked. (Without the store's word we cannot look again.)
  return written ? null : trouble !== null ? 'untold' : 'look-again'
}

/** A person overrode what could not be proven: end all that can be found, and say on record who answers for the rest. */
async function overrideUnknown(run: LiveRun, why: string, how: How, tally: Tally, ender: EndRunPorts): Promise<RunEnd> {
  const outcome = await endTree(run, ender, { graceMs: how.graceMs, anywhere: !isHere(run, ender) })
  addEnded(tally, outcome.ended)
  if (outcome.survivors.length > 0)
    return { kind: 'survivors', run, survivors: outcome.survivors, ended: withoutSurvivors(tally.ended, outcome.survivors) }
  const by = how.intent?.by ?? 'somebody'
  const ending: Ending = {
    state: 'lost',
    exit: null,
    by,
    reason: `${how.intent?.reason ?? 'overridden'}; its end could not be proven (${why}) and was overridden with --force`,
    evidence: [`unproven: ${why}`, `testimony of ${by} (--force)`],
  }
  const seen = await lookAt(run, ender)
  const unrecorded = await record(run, ending, seen, null, ender)
  const current = await ender.store.runs.get(run.id)
  if (unrecorded === 'look-again' && current !== null && isLive(current)) return { kind: 'unknown', run, why: 'it changed while we looked' }
  return finished(current ?? run, tally, how, ender, unrecorded instanceof Error ? unrecorded : null)
}

/** Waits a little for the keeper itself to leave, so that "stopped" also means that nothing of ours is left. */
export async function untilKeeperLeft(run: Run, hands: EndPorts): Promise<void> {
  if (run.keeper !== null && isHere(run, hands))
    await untilGone([run.keeper, ...[guardOf(run, hands) ?? []].flat()], hands, hands.policy.keeperLeaveMs)
}
