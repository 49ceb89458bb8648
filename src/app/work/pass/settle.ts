import { afterResult, backoffMs, nextStep, type RequestFacts, type RequestStep, redacted } from '../../../decide/index.ts'
import { type BranchLook, policy, type WorkRequest, type WorkResult } from '../../../model/index.ts'
import { stop } from '../../end/stop.ts'
import { endRequest } from './end-request.ts'
import { factsOf, type SeenRuns } from './facts.ts'
import { limitOf } from './limit.ts'
import { holdsOf, type Pass } from './worker.ts'

type Settling = { readonly pass: Pass; request: WorkRequest; facts: RequestFacts }

/** Brings one request as far as its facts allow. Each step is recorded before the next is decided. */
export async function settle(pass: Pass, first: WorkRequest, seen: SeenRuns): Promise<void> {
  const settling: Settling = { pass, request: first, facts: await factsOf(pass, first, seen) }
  for (let steps = 0; steps < policy.requestSteps; steps++) {
    const next = nextStep(settling.request, settling.facts, await boundsOf(settling))
    if (!(await carryOutStep(settling, next))) return
    const now = await pass.store.requests.get(first.id)
    // Somebody else has it by now.
    if (now === null || now.token !== first.token || now.endedAt !== null) return
    settling.request = now
  }
}

async function boundsOf({ pass, request }: Settling): Promise<{ attempts: number; finishMs: number }> {
  const work = await pass.workOf(request.order.repo)
  return { attempts: work.kind === 'blocked' ? policy.requestAttempts : work.workflow.limits.attempts, finishMs: policy.requestFinishMs }
}

/** False: there is nothing more to do now. */
async function carryOutStep(settling: Settling, step: RequestStep): Promise<boolean> {
  const { pass, request } = settling
  const { world, store, done } = pass
  const at = world.clock.now()
  switch (step.kind) {
    case 'keep':
      return false
    case 'started':
      return store.requests.recordStarted(holdsOf(request), step.run, at)
    case 'stop': {
      await stop(world, { references: [request.session], reason: step.why })
      // The next pass sees it over, or not.
      return false
    }
    case 'look-at-branch': {
      if (isPaused(request, at)) return false
      settling.facts = { ...settling.facts, branch: await lookAtBranch(pass, request) }
      return true
    }
    case 'retry-look':
      await recordTrouble(pass, request, 'look-at-branch', step.why)
      return false
    case 'publish':
      return publish(settling)
    case 'release': {
      const limited = await limitOf(pass, request, settling.facts.run)
      if (limited !== null) return limited === 'paused'
      const dueAt = at + backoffMs(request.attempt - 1, RETRY, world.clock.random())
      done.changes.push(`${request.id} is queued again: ${step.why}`)
      return store.requests.recordReleased(holdsOf(request), { why: step.why, dueAt, counts: step.counts }, at)
    }
    case 'pause':
      if (step.cause === 'review') await recordCommits(settling)
      done.changes.push(`${request.id} waits for ${step.cause}`)
      return store.requests.recordPaused(holdsOf(request), { cause: step.cause, summary: PAUSES[step.cause] ?? step.cause, dueAt: null }, at)
    case 'due':
      return store.requests.recordDue(holdsOf(request), { why: step.why, rework: step.rework }, at)
    case 'end': {
      if (LIMITABLE.includes(step.ending.reason)) {
        const limited = await limitOf(pass, request, settling.facts.run)
        if (limited !== null) return limited === 'paused'
      }
      if (step.ending.state === 'done') await recordCommits(settling)
      await endRequest(pass, settling.request, step, settling.facts)
      return false
    }
  }
}

const RETRY = { minMs: policy.requestRetryMinMs, maxMs: policy.requestRetryMaxMs }
const LIMITABLE: readonly string[] = ['no-result', 'agent-failed', 'attempts']
const PAUSES: Readonly<Record<string, string>> = {
  review: 'its result waits for a review',
  feedback: 'it goes on with the feedback',
}

const isPaused = ({ trouble, dueAt }: WorkRequest, now: number): boolean => trouble !== null && dueAt !== null && dueAt > now

/** Without a place there is no branch, and so no commit of it. */
async function lookAtBranch({ world }: Pass, { order, branch, base }: WorkRequest): Promise<BranchLook> {
  if (branch === null || base === null) return { kind: 'seen', head: '', commits: 0, remote: null }
  return world.branches.look(order.repo, branch, base)
}

export async function recordTrouble({ world, store, done }: Pass, request: WorkRequest, step: string, why: string): Promise<number> {
  const times = request.trouble?.step === step ? request.trouble.times + 1 : 1
  const at = world.clock.now()
  const dueAt = at + backoffMs(times - 1, RETRY, world.clock.random())
  done.troubles.push({ request: request.id, step, why })
  await store.requests.recordTrouble(holdsOf(request), { step, why, times, at }, dueAt, at)
  return times
}

/** An agent that reports its result does not say how many commits it made. */
async function recordCommits(settling: Settling): Promise<void> {
  const { request, facts } = settling
  const commits = facts.branch?.kind === 'seen' ? facts.branch.commits : 0
  if (request.result === null || (request.result.head === null && commits > 0)) await recordResult(settling, request.result?.published ?? null)
}

/** The commits of the branch as its result. `published`: the remote that has them. */
async function recordResult(settling: Settling, published: string | null): Promise<boolean> {
  const { pass, request, facts } = settling
  const { branch } = facts
  const head = branch?.kind === 'seen' && branch.head !== '' ? branch.head : null
  const commits = branch?.kind === 'seen' ? branch.commits : 0
  const at = pass.world.clock.now()
  const result: WorkResult = {
    ...(request.result ?? { kind: 'commits', text: commitsText(commits, request.branch), by: 'agent', at }),
    branch: request.branch,
    commits,
    head,
    published,
  }
  settling.request = { ...request, result }
  return pass.store.requests.recordResult(holdsOf(request), result, at)
}

const commitsText = (commits: number, branch: string | null): string => `${commits} ${commits === 1 ? 'commit' : 'commits'} on ${branch}`

/** Pushes its branch. A push is tried again for a while, and then a person is asked. */
async function publish(settling: Settling): Promise<boolean> {
  const { pass, request, facts } = settling
  const { world, store } = pass
  const branch = facts.branch ?? (await lookAtBranch(pass, request))
  settling.facts = { ...facts, branch }
  if (branch.kind === 'unknown' || branch.remote === null) {
    await recordTrouble(pass, request, 'publish', branch.kind === 'unknown' ? branch.why : 'the repository has no remote any more')
    return false
  }
  const failure = await world.branches.push(request.order.repo, branch.remote, request.branch ?? '')
  if (failure === null) {
    if (!(await recordResult(settling, branch.remote))) return false
    pass.done.changes.push(`${request.id}: ${request.branch} is on ${branch.remote}`)
    return request.state === 'waiting' ? carryOutStep(settling, afterResult({ ...settling.request, trouble: null })) : true
  }
  // A remote's address may have a secret in it, and so may the words of its hooks.
  const why = redacted(failure)
  const times = request.trouble?.step === 'publish' ? request.trouble.times + 1 : 1
  if (times >= policy.publishTries) {
    const step = { kind: 'end', ending: { state: 'blocked', reason: 'publish-failed', by: 'worker' }, summary: null } as const
    await endRequest(pass, request, step, settling.facts, why)
    return false
  }
  await recordTrouble(pass, request, 'publish', why)
  const at = world.clock.now()
  const dueAt = at + backoffMs(times - 1, RETRY, world.clock.random())
  await store.requests.recordPaused(holdsOf(request), { cause: 'publish', summary: `its branch could not be published: ${why}`, dueAt }, at)
  return false
}
