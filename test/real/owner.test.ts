import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { AGENT, gone, inLab, isAlive, TEST_COMMAND, until } from './lab.ts'
import { race } from './race.ts'

verifies('one-owner', 'of 20 starters one wins and 19 are refused, fresh and over a dead owner', () =>
  inLab(async (lab) => {
    for (let round = 0; round < 3; round++) {
      const { codes, agents } = await race(lab, 20)
      expect(
        codes.filter((code) => code === 0),
        `round ${round}: ${codes}`,
      ).toHaveLength(1)
      expect(
        codes.filter((code) => code === 75),
        `round ${round}: ${codes}`,
      ).toHaveLength(19)
      expect(agents()).toHaveLength(1)
      process.kill(agents()[0] as number, 'SIGKILL')
    }
  }),
)

verifies('one-owner', 'a duplicate start is refused with 75 and names the holder; so is a second session in its directory', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    for (const args of [
      ['run', '--session', 's', '--dir', lab.newDir(), '--detach', '--', AGENT, 'idle'],
      ['resume', 's', '--detach'],
      lab.detached('t', AGENT, 'idle'),
    ]) {
      const refused = await lab.hf(args)
      expect(refused.code).toBe(75)
      expect(refused.stderr).toMatch(new RegExp(`pid ${pid} .*session s.*since .* in ${lab.dir}`))
      expect(refused.stdout).toBe('')
    }
    expect(JSON.parse(await lab.ok(['ls', '--json']))).toHaveLength(1)
  }),
)

verifies('one-owner', 'a takeover retires the whole old tree before the new agent runs its first line', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'tree'))
    const old = await Promise.all(['main', 'plain', 'setsid', 'scrubbed'].map(lab.pid))
    const check =
      'for p in $OLD; do grep -q "^State:.[^ZX]" /proc/$p/status 2>/dev/null && echo $p >>"$FA_DIR/overlap"; done; : >"$FA_DIR/checked"; exec sleep 1000'
    const taken = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--takeover', '--detach', '--', 'sh', '-c', check], {
      env: { OLD: old.join(' ') },
    })
    expect(taken.code, taken.stderr).toBe(0)
    expect(taken.stderr).toMatch(/took over s: run r[0-9a-f]{12} \(epoch 1\) is superseded; ended 4 processes, seen gone/)
    await until('the new agent', () => readdirSync(lab.agentDir).includes('checked'))
    expect(readdirSync(lab.agentDir)).not.toContain('overlap')
    expect(await lab.status('s')).toMatchObject({ epoch: 2, state: 'running', reason: null })
    const events = JSON.parse(await lab.ok(['events', 's', '--json'])) as { kind: string; detail: { state?: string; reason?: string } }[]
    expect(events.find(({ kind }) => kind === 'ended')?.detail).toMatchObject({
      state: 'superseded',
      reason: expect.stringMatching(/^taken over by .+ \(pid \d+\)$/) as string,
    })
  }),
)

verifies('one-owner', 'takeovers that race leave one owner, and every old tree is gone', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { codes, agents } = await race(lab, 6, ['--takeover'])
    expect(
      codes.every((code) => [0, 75].includes(code)),
      String(codes),
    ).toBe(true)
    const { pid } = await lab.status('s')
    await until('the owner to speak', () => agents().includes(pid))
    expect(agents().filter(isAlive)).toEqual([pid])
  }),
)

verifies('one-owner', '--wait starts when the owner is gone, and gives up with 75', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const early = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--wait', '300ms', '--detach', '--', AGENT, 'idle'], { timeoutMs: 60_000 })
    expect(early.code).toBe(75)
    const waiting = lab.hf(['resume', 's', '--wait', '20s', '--detach'])
    await lab.ok(['stop', 's'])
    expect((await waiting).code).toBe(0)
    expect(await lab.status('s')).toMatchObject({ epoch: 2, state: 'running' })
  }),
)

verifies('final', 'a keeper that was frozen during its takeover changes nothing when it thaws', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { keeper, pid } = await lab.status('s')
    process.kill(keeper, 'SIGSTOP')
    process.kill(pid, 'SIGKILL')
    expect(await lab.status('s')).toMatchObject({ state: 'failed', exit: { code: 137, signal: 'SIGKILL' } })
    const ended = await lab.ok(['events', 's', '--json'])
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    process.kill(keeper, 'SIGCONT')
    await gone(keeper)
    expect(await lab.status('s')).toMatchObject({ state: 'running', epoch: 2 })
    expect((JSON.parse(await lab.ok(['events', 's', '--json'])) as unknown[]).slice(0, JSON.parse(ended).length)).toEqual(JSON.parse(ended))
  }),
)

verifies('gate', 'an agent runs nothing while its keeper waits to be put on record, and never if the launcher dies there', () =>
  inLab(async (lab) => {
    for (const point of ['before:store.claims.recordRunning', 'after:keepers.spawn', 'after:store.claims.claim', 'before:keepers.spawn']) {
      const killed = await lab.hf(lab.detached('g', AGENT, 'idle'), {
        command: TEST_COMMAND,
        env: { HOLDFAST_FAILPOINTS: `${point}=kill` },
      })
      expect(killed.code, point).toBe(137)
      await until('the dead launch to end as failed', async () => (await lab.status('g')).state === 'failed')
      expect(readdirSync(lab.agentDir), point).toEqual([])
    }
    const recorded = await lab.hf(lab.detached('g', AGENT, 'idle'), {
      command: TEST_COMMAND,
      env: { HOLDFAST_FAILPOINTS: 'after:store.claims.recordRunning=kill' },
    })
    expect(recorded.code).toBe(137)
    await until('a keeper whose gate closed to leave', async () => ['lost', 'failed'].includes((await lab.status('g')).state))
    expect(readdirSync(lab.agentDir)).toEqual([])
  }),
)
