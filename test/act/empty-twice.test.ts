import { expect } from 'vitest'
import { endTree } from '../../src/act/end/end-tree.ts'
import { lookAt } from '../../src/act/index.ts'
import { verifies } from '../requirements.ts'
import { simulated } from '../sim/simulated.ts'

// A pass over /proc is no snapshot: it misses a process that is born behind it. So without a cgroup a single empty pass proves nothing.

/** A run without a cgroup, with a member that the first passes miss. */
async function shy(misses: number) {
  const world = await simulated()
  const run = await world.launch('s')
  const missed = { pid: 3000, ticks: 60_000 }
  let passes = 0
  const processes: typeof world.processes = {
    ...world.processes,
    table: (look) => {
      const { rows, blind } = world.processes.table(look)
      return { rows: ++passes > misses ? rows : rows.filter(({ pid }) => pid !== missed.pid), blind }
    },
  }
  world.add({ ...missed, marker: run.marker })
  return { world, run, eyes: { ...world, processes }, isThere: () => world.processes.sample(missed.pid).kind === 'seen' }
}

verifies('stop-proof', 'a look takes a tree for empty only after two empty passes', async () => {
  const { world, run, eyes } = await shy(1)
  const { tree } = await lookAt(run, eyes)
  expect(tree?.kind === 'members' ? tree.members.map(({ row }) => row.pid) : tree).toEqual([3000])
  world.close()
})

verifies('stop-proof', 'an end by TERM is believed only after two empty passes', async () => {
  const { world, run, eyes, isThere } = await shy(2)
  world.add({ pid: 1000, ticks: 40_000, marker: run.marker })
  const end = await endTree(run, eyes, { graceMs: 10_000 })
  expect([end.survivors, isThere()]).toEqual([[], false])
  world.close()
})

verifies('stop-proof', 'an end by KILL is believed only after two empty passes', async () => {
  const { world, run, eyes, isThere } = await shy(4)
  world.add({ pid: 1000, ticks: 40_000, marker: run.marker }, true)
  const end = await endTree(run, eyes, { graceMs: 0 })
  expect([end.survivors, isThere()]).toEqual([[], false])
  world.close()
})
