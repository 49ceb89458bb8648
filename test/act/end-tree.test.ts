import { expect, test } from 'vitest'
import { endTree } from '../../src/act/end/end-tree.ts'
import { policy } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { simulated } from '../sim/simulated.ts'

const CGROUP = '/cg/holdfast-s'
const grace = { graceMs: 10_000 }

/** A run in a cgroup, with so many members that heed TERM; `done` is what was done to the cgroup, with the signals sent until then. */
async function contained(size: number) {
  const world = await simulated()
  const run = await world.launch('s')
  const inside = new Set<number>()
  const done: { what: string; sent: number }[] = []
  const did = (what: string): boolean => done.push({ what, sent: world.sent.length }) > 0
  const join = (pid: number, marker = run.marker, deaf = false, parent = 1): void => {
    world.add({ pid, ticks: 3000 + pid, marker, parent }, deaf)
    inside.add(pid)
  }
  for (let pid = 1000; pid < 1000 + size; pid++) join(pid)
  const here = () => [...inside].filter((pid) => world.processes.sample(pid).kind === 'seen')
  const hands = {
    ...world,
    evidence: { ...world.evidence, cgroup: () => CGROUP },
    cgroups: { ...world.cgroups, view: () => ({ kind: 'present' as const, pids: new Set(here()), hidden: false }) },
    containers: {
      ...world.containers,
      freeze: () => did('freeze'),
      thaw: () => did('thaw'),
      kill: () => {
        for (const pid of here()) world.remove(pid)
        return did('kill')
      },
      admit: (_: string, pid: number) => inside.delete(pid),
    },
  }
  return { world, run, hands, join, done, signals: () => new Set(world.sent.map(({ signal }) => signal)) }
}

verifies('stop-proof', 'a tree that explodes is frozen before anything else, gets no grace, and is killed at once', async () => {
  const { world, run, hands, join, done, signals } = await contained(policy.stormSize)
  world.after(policy.stormLookMs, () => {
    for (let pid = 9000; pid < 9000 + policy.stormSize / 5; pid++) join(pid)
  })
  const end = await endTree(run, hands, grace)
  expect(end).toMatchObject({ survivors: [], blind: null })
  expect(end.ended).toHaveLength(policy.stormSize * 1.2)
  expect(done).toEqual([
    { what: 'freeze', sent: 0 },
    { what: 'kill', sent: 0 },
    { what: 'thaw', sent: 0 },
  ])
  expect(signals()).toEqual(new Set())
  world.close()
})

verifies('stop-proof', 'a storm is left frozen by nobody, whatever goes wrong', async () => {
  const { world, run, hands, join, done } = await contained(policy.stormSize)
  world.after(policy.stormLookMs, () => {
    for (let pid = 9000; pid < 9000 + policy.stormSize; pid++) join(pid)
  })
  const failing = { ...hands, liveRoots: () => Promise.reject(new Error('no store')) }
  await expect(endTree(run, failing, grace)).rejects.toThrow('no store')
  expect(done.map(({ what }) => what)).toEqual(['freeze', 'thaw'])
  world.close()
})

test('many that do not multiply, and few that do, are asked to leave like anybody', async () => {
  for (const [size, newcomers] of [
    [policy.stormSize, 1],
    [policy.stormSize / 10, policy.stormSize / 5],
  ] as const) {
    const { world, run, hands, join, done, signals } = await contained(size)
    world.after(policy.stormLookMs, () => {
      for (let pid = 9000; pid < 9000 + newcomers; pid++) join(pid)
    })
    expect(await endTree(run, hands, grace)).toMatchObject({ survivors: [] })
    expect(done.map(({ what }) => what)).not.toContain('freeze')
    expect(signals()).toContain('SIGTERM')
    world.close()
  }
})

verifies('innocent', 'strangers in the cgroup leave it before it is killed; if more keep coming, only members are', async () => {
  for (const more of [3, Number.POSITIVE_INFINITY]) {
    const { world, run, hands, join, done } = await contained(0)
    join(1000, run.marker, true)
    let stranger = 5000
    const other = await world.launch('other', { keeper: world.add({ pid: 4999, ticks: 3000 }) })
    join(stranger, other.marker, false, 4999)
    const multiplying = {
      ...hands,
      containers: {
        ...hands.containers,
        admit: (path: string, pid: number) => {
          if (++stranger < 5000 + more) join(stranger, other.marker, false, 4999)
          return hands.containers.admit(path, pid)
        },
      },
    }
    expect(await endTree(run, multiplying, grace)).toMatchObject({ survivors: [], blind: null })
    expect(done.some(({ what }) => what === 'kill')).toBe(more === 3)
    expect(world.processes.sample(1000).kind).toBe('absent')
    for (let pid = 5000; pid < Math.min(stranger, 5000 + more); pid++) expect(world.processes.sample(pid).kind, String(pid)).toBe('seen')
    expect(world.sent.every(({ pid }) => pid < 5000)).toBe(true)
    world.close()
  }
})

verifies('stop-proof', 'what no signal ends is named as uninterruptible, and the killing has an end', async () => {
  const world = await simulated()
  const run = await world.launch('s')
  world.add({ pid: 1000, ticks: 4000, marker: run.marker, state: 'D' })
  const unheard = { ...world, processes: { ...world.processes, send: () => 'sent' as const } }
  expect(await endTree(run, unheard, { graceMs: 1_000 })).toMatchObject({
    survivors: [{ pid: 1000, why: expect.stringContaining('uninterruptible') as string }],
  })
  expect(world.clock.elapsed()).toBeLessThan(1_000 + 2 * policy.killMs)
  world.close()
})
