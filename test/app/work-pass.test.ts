import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { addFeedback, cancelRequest, seeFeedback } from '../../src/app/index.ts'
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
  const launched: string[] = []
  const watched: World = {
    ...world,
    keepers: {
      ...world.keepers,
      spawn(launch, ...more) {
        launched.push(readFileSync(launch.stdin ?? '', 'utf8'))
        return world.keepers.spawn(launch, ...more)
      },
    },
  }
  await pass(watched)
  expect((await get(id)).state).toBe('running')
  expect(launched).toEqual([expect.stringContaining('rename it')])
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
