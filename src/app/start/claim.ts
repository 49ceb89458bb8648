import type { Holding } from '../../decide/index.ts'
import type { Agent, RunBase, SharedWith } from '../../model/index.ts'
import { isLive, Problem } from '../../model/index.ts'
import { carriedBy } from '../lock/refusal-message.ts'
import { containmentFor } from '../world/choose-containment.ts'
import { newCookie, newMarker, newRunId } from '../world/ids.ts'
import type { Lost } from './checks/check.ts'
import { endingAround, takenBy } from './checks/session.ts'
import type { Beside } from './look.ts'
import type { Plan } from './plan.ts'

/** Takes the next epoch with its directory, in one transaction. Null: somebody was first, look again. */
export async function claim(plan: Plan, seenEpoch: number, { holdings, newest }: Beside, unmanaged: readonly Agent[]): Promise<RunBase | null> {
  const { world, request, front, store } = plan
  const run = request.adopt === undefined ? newRun(plan, seenEpoch + 1) : adoptedRun(plan, seenEpoch + 1, request.adopt)
  // A keeper is in nobody's cgroup: with the claim it is another run's, and must not be hit when the run around it is.
  if (front !== null && plan.base.kind === 'base' && plan.base.inside) world.containers.admit(plan.base.path, front.keeper.pid)
  const answer = await store.claims.claim({
    run,
    keeper: front?.keeper ?? null,
    name: request.name ?? null,
    directory: plan.directory,
    seenEpoch,
    seenLock: newest,
    share: request.share === true ? sharedWith(holdings) : null,
    reason: ['an agent works here', ...unmanaged.map(({ harness, row }) => `beside ${harness} (pid ${row.pid}), which is not managed`)].join(', '),
    harness: plan.spoken.harness?.name ?? null,
    native: plan.spoken.native,
    ancestors: plan.ancestors,
  })
  if (answer.kind === 'won') return run
  const problem = await lostBecause[answer.why](plan, run)
  if (problem !== null) throw problem
  return null
}

/** What the transaction answers, as the check of the same name tells it. Null: somebody was first, look again. */
export const lostBecause: Readonly<Record<Lost, (plan: Plan, run: RunBase) => Problem | null | Promise<Problem | null>>> = {
  epoch: () => null,
  live: () => null,
  directory: () => null,
  name: ({ request }) => takenBy(request.name),
  native: (plan) => carriedElsewhere(plan),
  parent: ({ parent }) => endingAround(parent),
  adopted: (_, { launcher }) =>
    new Problem('process-managed', `pid ${launcher.pid} was just adopted by somebody else`, { hint: 'holdfast ls shows as what' }),
}

async function carriedElsewhere({ world, store, spoken: { harness, native } }: Plan): Promise<Problem> {
  const owner = harness === null || native === null ? null : await store.conversations.owner({ harness: harness.name, id: native })
  const what = `${harness?.title} session ${native}`
  if (owner?.run != null && isLive(owner.run)) return carriedBy(world, what, owner.run)
  return new Problem('conversation-owned', `${what} was just taken by another session`, { hint: 'try again' })
}

function newRun({ world, request, front, session, parent, directory, base }: Plan, epoch: number): RunBase {
  const id = newRunId()
  const now = world.clock.now()
  const detachedMarker = front === null && world.keepers.markerTrouble() === null ? newMarker('run') : null
  return {
    id,
    session,
    epoch,
    place: world.processes.here(),
    launcher: world.processes.self(),
    marker: front === null ? detachedMarker : front.marker,
    containment: containmentFor(world, id, base),
    cookie: front?.cookie ?? newCookie(),
    argv: request.argv,
    dir: directory.path,
    detached: front === null,
    until: request.until ?? 'harness',
    deadlineAt: request.timeoutMs === undefined ? null : now + request.timeoutMs,
    parent: parent?.id ?? null,
    independent: request.independent ?? false,
    task: request.task ?? null,
    adopted: false,
    budget: request.budget ?? null,
    budgetCost: request.budgetCost ?? null,
    tmux: request.tmux === true ? { socket: world.panes.socket(), name: id } : null,
    host: world.host,
    user: world.user(),
    tty: world.own.terminal(),
    startedAt: now,
  }
}

/** Its own process is its first key; it stays in the cgroup where it is, and belongs to whoever started it, not to us. */
const adoptedRun = (plan: Plan, epoch: number, { row }: Agent): RunBase => ({
  ...newRun({ ...plan, parent: null }, epoch),
  launcher: { pid: row.pid, ticks: row.ticks },
  containment: { level: 'none', why: 'it was adopted while it ran' },
  detached: false,
  adopted: true,
  tty: null,
})

/** Those that are there: what is over, or free, is nobody to share with. */
const sharedWith = (holdings: readonly Holding[]): SharedWith[] =>
  holdings.filter(({ verdict }) => verdict.kind !== 'free').map(({ lock }) => ({ session: lock.session, run: lock.run, dir: lock.directory.path }))
