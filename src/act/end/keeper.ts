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
export function endTimer(run: Lookable, hands: EndPorts): void {
  const { evidence, processes, runRecords } = hands
  const timer = evidence.timer(run.id)
  if (timer === null || !isHere(run, hands) || !processes.arguments(timer.pid).includes(runRecords.path(run.id))) return
  processes.send(timer, 'SIGTERM')
  processes.send(timer, 'SIGCONT')
}
