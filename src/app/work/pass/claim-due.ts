import { holdBack, turns } from '../../../decide/index.ts'
import { policy, type WorkRequest } from '../../../model/index.ts'
import { begin } from './begin.ts'
import { inNet, type Pass } from './worker.ts'
import type { RepositoryWork } from './workflow.ts'

type Claimable = { readonly request: WorkRequest; readonly work: Exclude<RepositoryWork, { kind: 'blocked' }> }
/** `before`: the end of the attempt before. */
type Claimed = Claimable & { readonly before: string | null }

/** Claims what may run now, in its order, and begins it. */
export async function claimDue(pass: Pass): Promise<void> {
  const claimed: Claimed[] = []
  // What was claimed begins, whatever becomes of the next claim.
  await inNet(pass, null, 'claim', () => claimAll(pass, claimed))
  await Promise.all(claimed.map(({ request, work, before }) => inNet(pass, request.id, 'start', () => begin(pass, request, work, before))))
}

/** Limits are looked at anew for each claim, since other workers claim as well. */
async function claimAll(pass: Pass, claimed: Claimed[]): Promise<void> {
  const { requests } = pass.store
  const passed = new Set<string>()
  for (let tries = 0; tries < policy.claimsInPass; tries++) {
    const seenClaim = await requests.newestClaim()
    const next = await nextOf(pass, await requests.list('open', policy.requestsShown), passed)
    if (next === null) return
    const isAsked = await inNet(pass, next.request.id, 'claim', async () => {
      const request = await claim(pass, next.request, seenClaim)
      if (request !== null) claimed.push({ request, work: next.work, before: next.request.summary })
    })
    if (!isAsked) passed.add(next.request.id)
  }
}

/** Those that may not begin leave their turn to those behind them. Each round passes over all of a kind, so there are few. */
async function nextOf(pass: Pass, open: readonly WorkRequest[], passed: Set<string>): Promise<Claimable | null> {
  const { config, world } = pass
  for (;;) {
    const left = open.filter((one) => one.state !== 'queued' || (one.closing === null && !passed.has(one.id) && !passed.has(kindOf(one))))
    const due = turns(left, config.limits, world.clock.now())
    const request = left.find(({ id }) => due.get(id)?.kind === 'now')
    if (request === undefined) return null
    const may: Claimable[] = []
    await inNet(pass, request.id, 'claim', async () => {
      const work = await mayBegin(pass, request, open)
      if (work !== null) may.push({ request, work })
    })
    if (may[0] !== undefined) return may[0]
    passed.add(kindOf(request))
  }
}

/** What is in the way of one is in the way of all of its kind. */
const kindOf = ({ order, attempt }: WorkRequest): string => JSON.stringify([order.repo, order.harness, order.from !== null, attempt > 0])

/** Null: not now. */
async function mayBegin(pass: Pass, request: WorkRequest, open: readonly WorkRequest[]): Promise<Claimable['work'] | null> {
  const work = await pass.workOf(request.order.repo)
  if (work.kind === 'blocked') {
    pass.done.troubles.push({ request: request.id, step: 'workflow', why: work.why })
    return null
  }
  const ended = await pass.store.requests.list('ended', policy.failuresLooked)
  const { atOnce } = work.workflow.limits
  return holdBack({ request, open, ended, atOnce, now: pass.world.clock.now() }) === null ? work : null
}

/** Null: somebody was first. */
async function claim({ world, store }: Pass, request: WorkRequest, seenClaim: number): Promise<WorkRequest | null> {
  const found = await store.sessions.find(request.session, 'exact')
  const seenEpoch = found.kind === 'found' ? found.view.session.epoch : 0
  const claimant = { process: world.processes.self(), place: world.processes.here(), host: world.host }
  const at = world.clock.now()
  const token = await store.requests.claim({ id: request.id, token: request.token, seenClaim, seenEpoch, claimant, at })
  const now = token === null ? null : await store.requests.get(request.id)
  return now === null || now.token !== token ? null : now
}
