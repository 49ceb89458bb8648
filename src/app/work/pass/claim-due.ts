import { holdBack, turns } from '../../../decide/index.ts'
import { policy, type WorkRequest } from '../../../model/index.ts'
import { begin } from './begin.ts'
import { inNet, type Pass } from './worker.ts'
import type { RepositoryWork } from './workflow.ts'

type Claimed = { readonly request: WorkRequest; readonly work: Exclude<RepositoryWork, { kind: 'blocked' }> }

/** Claims what may run now, in its order, and begins it. Limits are looked at anew for each claim, since other workers claim as well. */
export async function claimDue(pass: Pass): Promise<void> {
  const { store, world, config } = pass
  const claimed: Claimed[] = []
  const passed = new Set<string>()
  for (let tries = 0; tries < policy.claimsInPass; tries++) {
    const seenClaim = await store.requests.newestClaim()
    const open = await store.requests.list('open', policy.requestsShown)
    const due = turns(open, config.limits, world.clock.now())
    const next = open.find(({ id, closing }) => due.get(id)?.kind === 'now' && !passed.has(id) && closing === null)
    if (next === undefined) break
    const isTaken = await inNet(pass, next.id, 'claim', async () => {
      const work = await mayBegin(pass, next, open)
      if (work === null) passed.add(next.id)
      else {
        const request = await claim(pass, next, seenClaim)
        if (request !== null) claimed.push({ request, work })
      }
    })
    if (!isTaken) passed.add(next.id)
  }
  await Promise.all(claimed.map(({ request, work }) => inNet(pass, request.id, 'start', () => begin(pass, request, work))))
}

/** Null: not now. Its repository is blocked, its repository fails again and again, or its agent is limited. */
async function mayBegin(pass: Pass, request: WorkRequest, open: readonly WorkRequest[]): Promise<Claimed['work'] | null> {
  const { world, store } = pass
  const work = await pass.workOf(request.order.repo)
  if (work.kind === 'blocked') {
    pass.done.troubles.push({ request: request.id, step: 'workflow', why: work.why })
    return null
  }
  const newest = await store.requests.list('all', policy.failuresLooked)
  const { atOnce } = work.workflow.limits
  return holdBack({ request, open, newest, atOnce, now: world.clock.now() }) === null ? work : null
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
