import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { AGENT, COMMAND, gone, inLab, isAlive, type Lab, readOr, stateOf, until } from './lab.ts'

const TREE = ['plain', 'setsid', 'scrubbed'] as const

/** The guard of the only run of a lab, as it wrote down itself. */
const guardOf = (lab: Lab): Promise<number> =>
  until('the guard', () => {
    const [run = ''] = readdirSync(join(lab.home, 'runs'))
    return Number.parseInt(readOr(join(lab.home, 'runs', run, 'guard')), 10) || null
  })

/** All guards of a lab that live: read from the kernel alone, so that nothing has them finish anything. */
const guardsAlive = (lab: Lab): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1 && isAlive(pid) && readOr(`/proc/${pid}/cmdline`).includes(`guard.sh\0${lab.home}/runs/`))

/** Where nobody reaps the agent, its zombie tells how it ended; else nothing does. */
const isUnasked = (state: string): boolean => ['lost', 'failed'].includes(state)

const kill = (...pids: readonly number[]): void => {
  for (const pid of pids) process.kill(pid, 'SIGKILL')
}

verifies('stop-proof', 'keeper and agent killed at once: the tree is gone soon after, without a daemon and without a command', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'tree'))
    const tree = await Promise.all(TREE.map(lab.pid))
    const { keeper, pid } = await lab.status('s')
    const guard = await guardOf(lab)
    kill(keeper, pid)
    await Promise.all([...tree, guard].map(gone))
    expect((await lab.status('s')).state).toSatisfy(isUnasked)
  }),
)

verifies('stop-proof', 'an ACP client that kills the process group of its agent leaves nothing of it', () =>
  inLab(async (lab) => {
    // As editors start it: the command leads a process group, speaks over pipes, and the whole group is killed in the end.
    const client = spawn(COMMAND, ['run', '--session', 's', '--dir', lab.dir, '--', AGENT, 'tree'], { env: lab.env, cwd: lab.dir, detached: true })
    const tree = await Promise.all(['main', ...TREE].map(lab.pid))
    const guard = await guardOf(lab)
    process.kill(-(client.pid ?? 0), 'SIGKILL')
    await Promise.all([...tree, guard].map(gone))
    expect((await lab.status('s')).state).toSatisfy(isUnasked)
  }),
)

verifies('unknown', 'a keeper that is killed alone lets its agent live, and the leftovers are ended after it', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'tree'))
    const tree = await Promise.all(TREE.map(lab.pid))
    const { keeper, pid } = await lab.status('s')
    const guard = await guardOf(lab)
    kill(keeper)
    await until('the guard to watch the agent', () => readOr(`/proc/${guard}/task/${guard}/children`))
    expect([pid, ...tree].every(isAlive)).toBe(true)
    expect(await lab.status('s')).toMatchObject({ state: 'running', pid })
    kill(pid)
    await Promise.all([...tree, guard].map(gone))
    expect((await lab.status('s')).state).toSatisfy(isUnasked)
  }),
)

verifies('stop-proof', 'a run whose keeper was killed is stopped with its guard', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { keeper, pid } = await lab.status('s')
    const guard = await guardOf(lab)
    kill(keeper)
    await until('the guard to watch the agent', () => readOr(`/proc/${guard}/task/${guard}/children`))
    await lab.ok(['stop', 's'])
    expect([pid, guard].filter(isAlive)).toEqual([])
  }),
)

verifies('visible', 'with keeper, agent and guard killed at once the next look has the rest ended, and says so', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'tree'))
    const tree = await Promise.all(TREE.map(lab.pid))
    const { keeper, pid } = await lab.status('s')
    const guard = await guardOf(lab)
    kill(guard, keeper, pid)
    await Promise.all([guard, keeper, pid].map(gone))
    expect(tree.every(isAlive)).toBe(true)
    expect(await lab.ok(['status', 's'])).toContain('is being ended now')
    await Promise.all(tree.map(gone))
    await until('its end', async () => isUnasked((await lab.status('s')).state))
  }),
)

verifies('bounded', 'a guard computes nothing, is small, and is gone before an ordinary end is told', () =>
  inLab(async (lab) => {
    for (const argv of [['true'], ['sh', '-c', 'exit 3'], ['sh', '-c', 'kill -9 $$']]) {
      await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--', ...argv])
      expect(guardsAlive(lab)).toEqual([])
    }
    await lab.ok(lab.detached('t', AGENT, 'idle'))
    const [guard = 0] = await until('its guard', () => (guardsAlive(lab).length === 1 ? guardsAlive(lab) : null))
    await until('it to rest', () => stateOf(guard) === 'S')
    const fields = readOr(`/proc/${guard}/stat`).split(') ')[1]?.split(' ') ?? []
    // Processor time, with that of children.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    expect(ticks).toBeLessThan(20)
    expect(readOr(`/proc/${guard}/task/${guard}/children`)).toBe('')
    expect(Number(/^Pss:\s+(\d+) kB/m.exec(readOr(`/proc/${guard}/smaps_rollup`))?.[1])).toBeLessThan(500)
    await lab.ok(['stop', 't'])
    expect(guardsAlive(lab)).toEqual([])
  }),
)

test('a run that lives as long as its tree is finished by its guard', () =>
  inLab(async (lab) => {
    const script = 'setsid sh -c "echo \\$\\$ >$FA_DIR/left.pid; exec sleep 1000" & exit 4'
    const run = await lab.hf(['run', '--session', 's', '--until', 'tree', '--dir', lab.dir, '--', 'sh', '-c', script])
    expect(run.code).toBe(4)
    const left = await lab.pid('left')
    expect(await lab.status('s')).toMatchObject({ state: 'running' })
    const guard = await guardOf(lab)
    kill(left)
    await gone(guard)
    expect(await lab.status('s')).toMatchObject({ state: 'failed', exit: { code: 4 } })
  }))
