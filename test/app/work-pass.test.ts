import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { addFeedback, cancelRequest, explainRequest, rerunRequest, seeFeedback } from '../../src/app/index.ts'
import { workPass } from '../../src/app/work/pass/work-pass.ts'
import { newWorkerMemory } from '../../src/app/work/pass/worker.ts'
import type { World } from '../../src/app/world/world.ts'
import type { Store } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { workLab } from './work-lab.ts'

type Lab = Awaited<ReturnType<typeof workLab>>

/** The same world with another store in front of its own. */
const withStore = ({ world, sim }: Lab, more: (store: Store) => Partial<Store>): World => ({
  ...world,
  store: async () => ({ ...sim.store, ...more(sim.store) }),
})
/** The same world, and the prompts of the agents that it starts. */
function prompting(world: World): { readonly world: World; readonly prompts: string[] } {
  const prompts: string[] = []
  const spawn: World['keepers']['spawn'] = (launch, ...more) => {
    prompts.push(readFileSync(launch.stdin ?? '', 'utf8'))
    return world.keepers.spawn(launch, ...more)
  }
  return { prompts, world: { ...world, keepers: { ...world.keepers, spawn } } }
}
const pass = (world: World) => workPass(world, newWorkerMemory())

verifies('one-end', 'a run that another worker begins during a pass is not taken for one that is lost', async () => {
  const lab = await workLab()
  const { add, get, claim, launch, sim } = lab
  const { id } = await add()
  const holds = await claim(id, sim.add({ pid: 500 }))
  let begun = false
  const late = withStore(lab, ({ requests }) => ({
    requests: {
      ...requests,
      // The pass has looked for a run, and there was none.
      async get(asked) {
        if (!begun) {
          begun = true
          await requests.recordStarted(holds, (await launch(id)).run.id, sim.clock.now())
        }
        return requests.get(asked)
      },
    },
  }))
  expect((await pass(late)).changes).toEqual([])
  expect(await get(id)).toMatchObject({ state: 'running', reason: null, token: holds.token })
  await pass(lab.world)
  expect(await get(id)).toMatchObject({ state: 'running', reason: null, token: holds.token })
})

verifies('unknown', 'an agent that began keeps its claim, although the store could not record that', async () => {
  const lab = await workLab()
  const { add, get, world, sim } = lab
  const { id, session } = await add()
  const busy = withStore(lab, ({ requests }) => ({
    requests: {
      ...requests,
      async recordStarted() {
        throw new Error('the store is busy')
      },
    },
  }))
  expect((await pass(busy)).troubles).toMatchObject([{ request: id, step: 'start', why: 'the store is busy' }])
  expect(await get(id)).toMatchObject({ state: 'claimed', token: 1 })
  await pass(world)
  const found = await sim.store.sessions.find(session, 'exact')
  expect(await get(id)).toMatchObject({ state: 'running', token: 1, run: found.kind === 'found' ? found.view.run?.id : null })
})

test('feedback of a start that failed is in the prompt of the next one', async () => {
  const lab = await workLab()
  const { add, get, world, sim } = lab
  const { id } = await add()
  await addFeedback(world, id, 'rename it')
  const full: World = {
    ...world,
    keepers: {
      ...world.keepers,
      async spawn() {
        throw new Error('no more processes')
      },
    },
  }
  await pass(full)
  expect(await get(id)).toMatchObject({ state: 'queued', attempt: 0, trouble: { step: 'start' } })
  await pass(world)
  expect(await seeFeedback(world, id)).toMatchObject([{ state: 'pending' }])
  await sim.clock.sleep(60_000)
  const { prompts, world: watched } = prompting(world)
  await pass(watched)
  expect((await get(id)).state).toBe('running')
  expect(prompts).toEqual([expect.stringContaining('rename it')])
  await pass(world)
  expect(await seeFeedback(world, id)).toMatchObject([{ state: 'delivered' }])
})

test('a worktree that cannot be looked at is named, and holds up no end', async () => {
  const lab = await workLab()
  const { add, get, world, sim, worktreesFolder } = lab
  const { id } = await add()
  await pass(world)
  const { run, dir } = await get(id)
  expect(worktreesFolder()).toHaveLength(1)
  const stuck: World = {
    ...world,
    worktrees: {
      ...world.worktrees,
      async state() {
        throw new Error('git does not answer')
      },
    },
  }
  expect(await cancelRequest(stuck, id)).toMatchObject({ kind: 'cancelled' })
  expect(await get(id)).toMatchObject({ state: 'cancelled', summary: `cancelled by ann@box; its worktree ${dir} stays: git does not answer` })
  expect(await sim.store.runs.get(run ?? '')).toMatchObject({ state: 'stopped' })
})

verifies('stop-proof', 'a cancel ends the agent that a worker started as its last act', async () => {
  const lab = await workLab()
  const { add, get, claim, launch, sim } = lab
  const { id } = await add()
  await claim(id, sim.add({ pid: 500 }))
  let run: string | null = null
  const late = withStore(lab, ({ sessions }) => ({
    sessions: {
      ...sessions,
      async find(...asked) {
        const before = await sessions.find(...asked)
        if (run === null) {
          run = (await launch(id)).run.id
          sim.remove(500)
        }
        return before
      },
    },
  }))
  expect(await cancelRequest(late, id)).toMatchObject({ kind: 'cancelled' })
  expect(await get(id)).toMatchObject({ state: 'cancelled' })
  expect(await sim.store.runs.get(run ?? '')).toMatchObject({ state: 'stopped' })
})

/** Requests of a repository end in the same way, so often that no more of it begin. */
async function failing(lab: Lab, times = 5): Promise<void> {
  for (let time = 0; time < times; time++) {
    const { id } = await lab.add()
    await lab.claim(id)
    await lab.end(id)
  }
}

test('requests that may not begin leave their turn to those behind them', async () => {
  const lab = await workLab()
  const { add, get, world, dir } = lab
  const blocked = await Promise.all(Array.from({ length: 12 }, () => add({ priority: 1 })))
  const behind = await add({ harness: 'claude' })
  const { requests } = lab
  // The same repository by another name, with a WORKFLOW.md that nobody has allowed.
  const untrusted: World = {
    ...world,
    workflows: {
      ...world.workflows,
      read: async (repo) => (repo === dir ? { kind: 'none', branch: 'main', commit: 'c0' } : { kind: 'unknown', why: 'it is new' }),
    },
  }
  const elsewhere = { ...behind, id: 'welsewhere', order: { ...behind.order, repo: dir } }
  await requests.add({ ...elsewhere, waitsFor: null, at: behind.createdAt + 1, branch: 'holdfast/x', session: 'work-welsewhere' })
  const { troubles } = await pass(untrusted)
  expect((await get('welsewhere')).token).toBe(1)
  expect((await get(blocked[0]?.id ?? '')).token).toBe(0)
  expect(troubles.filter(({ step }) => step === 'workflow')).toHaveLength(1)
})

test('a repository that fails again and again is left alone, however many requests wait; explain says so, and a rerun is tried', async () => {
  const lab = await workLab()
  const { add, get, world, sim } = lab
  await failing(lab)
  await sim.clock.sleep(1_000)
  const waiting = await add()
  // Newer ones that have not ended yet hide no failure.
  for (let more = 0; more < 200; more++) await add()
  await pass(world)
  expect(await get(waiting.id)).toMatchObject({ state: 'queued', token: 0 })
  const { because, next } = await explainRequest(world, waiting.id)
  expect(because.join('; ')).toContain('the last 5 requests of this repository failed in the same way: no-result')
  expect(next.command).toBe('holdfast work ls')
  const [old] = await lab.requests.list('ended', 1)
  const again = await rerunRequest(world, old?.id ?? '')
  await pass(world)
  expect((await get(again.request.id)).state).toBe('running')
  expect((await get(waiting.id)).token).toBe(0)
})

test('those that wait for the same usage limit begin apart, and others wait for the last', async () => {
  const lab = await workLab()
  const { add, get, claim, world, sim, requests } = lab
  const now = sim.clock.now()
  const limited = await Promise.all([1, 2].map(() => add()))
  for (const [at, { id }] of limited.entries())
    await requests.recordPaused(await claim(id), { cause: 'limit', summary: 's', dueAt: now + 3_600_000 + at * 60_000 }, now)
  const fresh = await add()
  await sim.clock.sleep(3_600_000)
  await pass(world)
  const states = await Promise.all([...limited, fresh].map(async ({ id }) => (await get(id)).state))
  expect(states).toEqual(['running', 'waiting', 'queued'])
})

test('what was claimed begins, although the store is busy at the next claim', async () => {
  const lab = await workLab()
  const { add, get } = lab
  const [first, second] = [await add({ priority: 1 }), await add({ priority: 2 })]
  let claims = 0
  const busy = withStore(lab, ({ requests }) => ({
    requests: {
      ...requests,
      async newestClaim() {
        if (claims++ > 0) throw new Error('the store is busy')
        return requests.newestClaim()
      },
    },
  }))
  expect((await pass(busy)).troubles).toMatchObject([{ step: 'claim', why: 'the store is busy' }])
  expect([(await get(first.id)).state, (await get(second.id)).state]).toEqual(['running', 'queued'])
})

test('the next attempt is told how the one before it ended', async () => {
  const lab = await workLab()
  const { add, claim, world, sim, requests } = lab
  const { id } = await add()
  await requests.recordReleased(await claim(id), { why: 'its run r1 ended without a word', dueAt: null, counts: true }, sim.clock.now())
  await requests.recordReleased(await claim(id), { why: 'its run r1 ended without a word', dueAt: null, counts: false }, sim.clock.now())
  const { prompts, world: watched } = prompting(world)
  await pass(watched)
  expect(prompts).toEqual([expect.stringContaining('The attempt before this one ended: its run r1 ended without a word')])
})

test('a push that fails tells why, without the secret of its address', async () => {
  const lab = await workLab()
  const { add, get, claim, world, sim, requests } = lab
  const { id } = await add({ publish: 'branch' })
  const [holds, now] = [await claim(id), sim.clock.now()]
  await requests.recordPlaced(holds, { dir: '/gone', branch: 'holdfast/x', base: 'c0' }, now)
  await requests.recordPaused(holds, { cause: 'publish', summary: 's', dueAt: now }, now)
  const branches: World['branches'] = {
    ...world.branches,
    look: async () => ({ kind: 'seen', head: 'c1', commits: 1, remote: 'origin' }),
    push: async () => 'cannot reach https://ann:hunter22@host/repo.git',
  }
  await pass({ ...world, branches })
  const { summary, trouble } = await get(id)
  expect(summary).toContain('https://ann:[hidden]@host/repo.git')
  expect(JSON.stringify([summary, trouble])).not.toContain('hunter22')
})
