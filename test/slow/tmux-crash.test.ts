import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Hosted, inHostedLab } from '../real/hosted.ts'
import { AGENT, isAlive, readOr, stateOf, TEST_COMMAND, until } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

/** Before its gate is opened nothing may ever run; after that, it runs and is on record. */
const BEFORE = [
  'after:store.claims.claim',
  'after:runRecords.create',
  'before:panes.spawn',
  'after:panes.spawn',
  'after:evidence.recordServer',
  'after:runRecords.recordKeeper',
  'before:store.claims.recordRunning',
  'after:store.claims.recordRunning',
]

verifies(
  'gate',
  'a launcher that is killed at each of its steps: nothing of the agent ever runs, its pane and its server leave, and the next start works',
  () =>
    inHostedLab(async (lab) => {
      for (const [index, point] of BEFORE.entries()) {
        const agentDir = join(lab.agentDir, String(index))
        mkdirSync(agentDir)
        const launched = await lab.hf(lab.hosted('k', AGENT, 'idle'), {
          command: TEST_COMMAND,
          env: { FA_DIR: agentDir, HOLDFAST_FAILPOINTS: `${point}=kill` },
        })
        expect(launched.code, point).not.toBe(0)
        await until(`the pane to leave at ${point}`, () => lab.server() === null)
        await lab.ok(['reconcile'])
        const { state, keeper } = await lab.status('k')
        expect(['failed', 'lost'], `${point} ${state}`).toContain(state)
        if (keeper !== null) expect(isAlive(keeper), point).toBe(false)
        expect(existsSync(join(agentDir, 'main.pid')), point).toBe(false)
      }
      await lab.ok(lab.hosted('k', AGENT, 'idle'))
      expect(await lab.status('k')).toMatchObject({ state: 'running', epoch: BEFORE.length + 1 })
    }),
)

verifies('gate', 'a launcher that is killed once the gate is open leaves a run that is on record and goes on', () =>
  inHostedLab(async (lab) => {
    // Right after the gate it looks for the agent.
    const launched = await lab.hf(lab.hosted('k', AGENT, 'idle'), {
      command: TEST_COMMAND,
      env: { HOLDFAST_FAILPOINTS: 'after:evidence.harness=kill,after:evidence.notStarted=kill' },
    })
    expect(launched.code).not.toBe(0)
    const pid = await lab.pid('main')
    expect(await lab.status('k')).toMatchObject({ state: 'running', pid })
    expect(Number(readFileSync(join(lab.agentDir, 'main.pid'), 'utf8'))).toBe(pid)
  }),
)

verifies('gate', 'a frozen launcher: its pane waits, and a stop of its session shuts the gate for good', () =>
  inHostedLab(async (lab: Hosted) => {
    const launcher = lab.start(lab.hosted('k', AGENT, 'idle'), {
      command: TEST_COMMAND,
      env: { HOLDFAST_FAILPOINTS: 'before:store.claims.recordRunning=stop' },
    })
    await until('the pane to wait', () => lab.server())
    const { owner } = (await until('its record', async () => {
      const { code, stdout } = await lab.hf(['status', 'k', '--json'])
      return code === 0 && JSON.parse(stdout)
    })) as { owner: { pid: number } }
    await until('the launcher to be frozen', () => /\) T/.test(readFileSync(`/proc/${owner.pid}/stat`, 'latin1')))
    expect(existsSync(join(lab.agentDir, 'main.pid'))).toBe(false)
    const stop = lab.hf(['stop', 'k'])
    await until('somebody to ask for its end', async () => (await lab.ok(['status', 'k'])).includes('stop'))
    process.kill(owner.pid, 'SIGCONT')
    await stop
    await until('the launcher to leave', () => launcher.exitCode !== null || launcher.signalCode !== null)
    expect(launcher.exitCode).not.toBe(0)
    await until('the pane to leave', () => lab.server() === null)
    expect(existsSync(join(lab.agentDir, 'main.pid'))).toBe(false)
    expect((await lab.status('k')).state).toBe('stopped')
  }),
)

for (const [where, start] of [
  ['in a pane', (lab: Hosted) => lab.hosted('k', AGENT, 'idle')],
  ['detached', (lab: Hosted) => lab.detached('k', AGENT, 'idle')],
] as const)
  verifies('gate', `${where}: a gate that cannot be opened is shut, and its keeper gone, before that end is recorded`, () =>
    inHostedLab(async (lab: Hosted) => {
      const launcher = lab.start(start(lab), {
        command: TEST_COMMAND,
        env: { HOLDFAST_FAILPOINTS: 'before:gate.open=throw,before:store.claims.recordEnded=stop' },
      })
      // The command is a shell that waits for Node.
      const node = await until('its end to be about to be recorded', () => {
        const child = Number(readOr(`/proc/${launcher.pid}/task/${launcher.pid}/children`))
        return stateOf(child) === 'T' && child
      })
      // Not asked of `status`: that records an end that it can prove.
      const [run = ''] = readdirSync(join(lab.home, 'runs'))
      const [keeper] = readOr(join(lab.home, 'runs', run, 'keeper'))
        .split(' ')
        .map(Number)
      expect([keeper, isAlive(keeper ?? 0)]).toEqual([expect.any(Number), false])
      process.kill(node, 'SIGCONT')
      await until('the launcher to leave', () => launcher.exitCode !== null || launcher.signalCode !== null)
      expect(launcher.exitCode).not.toBe(0)
      expect(await lab.status('k')).toMatchObject({ state: 'failed', reason: expect.stringContaining('failpoint gate.open') as string })
      expect(existsSync(join(lab.agentDir, 'main.pid'))).toBe(false)
    }),
  )
