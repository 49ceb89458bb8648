import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { AGENT, gone, inLab, isAlive, type Lab, until } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

const CRASH = resolve('test/fixtures/crashat.cjs')
const MAX_STEPS = 80

/** The launcher dies at its k-th durable step: what runs is on record, what is on record as running runs, and the next start works. */
async function launchDyingAt(lab: Lab, step: number, after: boolean): Promise<{ reached: boolean }> {
  const agentDir = join(lab.agentDir, `${step}${after}`)
  mkdirSync(agentDir)
  const env = {
    FA_DIR: agentDir,
    HOLDFAST_HOME: `${lab.home}-${step}${after}`,
    NODE_OPTIONS: `--require ${CRASH}`,
    CRASH_AT: String(step),
    CRASH_AFTER: after ? '1' : '0',
  }
  const quiet = { env: { FA_DIR: agentDir, HOLDFAST_HOME: env.HOLDFAST_HOME } }
  const launched = await lab.hf(lab.detached('k', AGENT, 'idle'), { env })
  await lab.ok(['reconcile'], quiet)
  const agent = await until(`agreement at step ${step}`, async () => {
    const status = await lab.hf(['status', 'k', '--json'], quiet)
    const state = status.code === 0 ? (JSON.parse(status.stdout) as { state: string }).state : 'none'
    const pid = existsSync(join(agentDir, 'main.pid')) ? Number(readFileSync(join(agentDir, 'main.pid'), 'utf8')) : 0
    const alive = pid > 0 && isAlive(pid)
    return alive ? state === 'running' && { alive } : ['none', 'lost', 'failed', 'stopped'].includes(state) && { alive }
  })
  if (agent.alive) await lab.ok(['stop', 'k'], quiet)
  else await lab.ok(['run', '--session', 'k', '--dir', lab.dir, '--', 'true'], quiet)
  return { reached: launched.code !== 0 }
}

verifies('gate', 'a launcher killed after each of its durable steps leaves agent and record in agreement', () =>
  inLab(async (lab) => {
    // Before a step all is as it was after the one before it; only the first has none.
    await launchDyingAt(lab, 1, false)
    let steps = 0
    while (steps < MAX_STEPS && (await launchDyingAt(lab, steps + 1, true)).reached) steps++
    expect(steps).toBeGreaterThan(5)
    expect(steps).toBeLessThan(MAX_STEPS)
  }),
)

verifies('evidence', 'in the foreground, a planner or finisher killed at each step never costs the exit code of an agent that ran', () =>
  inLab(async (lab) => {
    for (let step = 1; step <= 30; step++) {
      const agentDir = join(lab.agentDir, String(step))
      mkdirSync(agentDir)
      await lab.hf(['run', '--session', `k${step}`, '--dir', lab.dir, '--', AGENT, 'exit', '6'], {
        env: { FA_DIR: agentDir, NODE_OPTIONS: `--require ${CRASH}`, CRASH_AT: String(step) },
      })
      const ran = existsSync(join(agentDir, 'main.pid'))
      const status = await lab.hf(['status', `k${step}`, '--json'])
      if (ran) expect(JSON.parse(status.stdout), `step ${step}`).toMatchObject({ state: 'failed', exit: { code: 6 } })
      else if (status.code === 0) expect(['lost', 'failed'], `step ${step}`).toContain(JSON.parse(status.stdout).state)
      await lab.ok(['run', '--session', `k${step}`, '--dir', lab.dir, '--', 'true'])
    }
  }),
)

verifies('one-owner', 'a keeper killed at any moment of a short run leaves no second owner and no open run', () =>
  inLab(async (lab) => {
    for (let delayMs = 0; delayMs < 200; delayMs += 20) {
      await lab.ok(lab.detached('s', 'sh', '-c', 'sleep 0.1; exit 4'))
      const { keeper } = await lab.status('s')
      await new Promise((next) => setTimeout(next, delayMs))
      if (isAlive(keeper)) process.kill(keeper, 'SIGKILL')
      await gone(keeper)
      const ended = await until('the end', async () => {
        await lab.ok(['reconcile'])
        const status = await lab.status('s')
        return ['failed', 'lost'].includes(status.state) && status
      })
      // Either the record was written before the keeper died, or nobody knows; or it was a zombie of init's for a moment.
      if (ended.state === 'failed') expect(ended.exit).toMatchObject({ code: 4 })
      else expect(ended.exit).toBeNull()
    }
  }),
)
