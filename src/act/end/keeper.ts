import type { LiveRun, ProcessId, Run } from '../../model/index.ts'
import { isFrozen } from '../../model/index.ts'
import { isHere } from '../look/look.ts'
import type { EndPorts, Lookable } from '../ports.ts'
import { endTree } from './end-tree.ts'
import { isThere, untilGone } from './wait-until-gone.ts'

/** A keeper that has no harness yet must not get one any more; a frozen one must be able to go on. */
export function nudgeKeeper(run: LiveRun, beforeHarness: boolean, { processes }: EndPorts): void {
  if (run.keeper === null) return
  if (beforeHarness) processes.send(run.keeper, 'SIGTERM')
  processes.send(run.keeper, 'SIGCONT')
}

/**
 * The agent is gone and its keeper has yet to write how. It is thawed and waited for; one that does not write even then is a keeper
 * without a harness, and is ended: only after that may the end be called unknown.
 */
export async function settleKeeper(run: LiveRun, settlingMs: number, hands: EndPorts): Promise<void> {
  if (settlingMs < hands.policy.exitRecordMs) return hands.clock.sleep(hands.policy.pollMinMs * 5)
  if (run.keeper === null) {
    await endTree(run, hands, { graceMs: hands.policy.leftoverGraceMs })
    return hands.clock.sleep(hands.policy.pollMaxMs)
  }
  hands.processes.send(run.keeper, 'SIGCONT')
  if (settlingMs < hands.policy.settleMs) return hands.clock.sleep(hands.policy.pollMaxMs)
  hands.processes.send(run.keeper, 'SIGKILL')
  await untilGone([run.keeper], hands, hands.policy.keeperLeaveMs)
}

/** Its tree is gone; a living keeper now writes how the harness ended. It stops with its agent, so it may have to be woken. */
export async function untilKeeperWrote(run: LiveRun, hands: EndPorts): Promise<void> {
  const until = hands.clock.elapsed() + hands.policy.exitRecordMs
  while (run.keeper !== null && hands.evidence.exit(run.id) === null && isThere(run.keeper, hands.processes) && hands.clock.elapsed() < until) {
    if (isFrozenThere(run.keeper, hands)) hands.processes.send(run.keeper, 'SIGCONT')
    await hands.clock.sleep(hands.policy.pollMinMs)
  }
}

/** The keeper of an ended run that is frozen would stay for good: it is thawed and, should it not leave, ended. One that runs is leaving by itself. */
export async function dismissKeeper(run: Run, hands: EndPorts): Promise<void> {
  const { keeper } = run
  if (keeper === null || !isHere(run, hands) || !isFrozenThere(keeper, hands)) return
  hands.processes.send(keeper, 'SIGCONT')
  await untilGone([keeper], hands, hands.policy.exitRecordMs)
  if (!isFrozenThere(keeper, hands)) return
  hands.processes.send(keeper, 'SIGKILL')
  await untilGone([keeper], hands, hands.policy.keeperLeaveMs)
}

function isFrozenThere({ pid, ticks }: ProcessId, { processes }: EndPorts): boolean {
  const seen = processes.sample(pid)
  return seen.kind === 'seen' && seen.row.ticks === ticks && isFrozen(seen.row.state)
}

/**
 * A keeper that was killed, or whose run lives as long as its tree, could not take its timer with it. The file that names it lies where the agent can
 * write: a timer has the run's directory among its arguments.
 */
export const endTimer = (run: Lookable, hands: EndPorts): void => endHelper(run, hands.evidence.timer(run.id), hands)

/** For a recorded end: a killed keeper cannot end its guard. */
export const endGuard = (run: Lookable | Run, hands: EndPorts): void => endHelper(run, guardOf(run, hands), hands)

/** Null: none lives. The file that names it counts only for a process with the run's directory among its arguments. */
export function guardOf(
  run: Lookable | Run,
  { evidence, processes, runRecords }: Pick<EndPorts, 'evidence' | 'processes' | 'runRecords'>,
): ProcessId | null {
  const guard = evidence.guard(run.id)
  return guard !== null && isHere(run, { processes }) && isThere(guard, processes) && isForRun(run, guard, { processes, runRecords }) ? guard : null
}

const isForRun = (run: Lookable | Run, { pid }: ProcessId, { processes, runRecords }: Pick<EndPorts, 'processes' | 'runRecords'>): boolean =>
  processes.arguments(pid).includes(runRecords.path(run.id))

function endHelper(run: Lookable | Run, helper: ProcessId | null, hands: EndPorts): void {
  if (helper === null || !isHere(run, hands) || !isForRun(run, helper, hands)) return
  hands.processes.send(helper, 'SIGTERM')
  hands.processes.send(helper, 'SIGCONT')
}
