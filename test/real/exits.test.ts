import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { AGENT, gone, inLab, stateOf, TEST_COMMAND, until } from './lab.ts'

verifies('evidence', 'exit codes come through exactly, in the foreground and detached', () =>
  inLab(async (lab) => {
    for (const code of [0, 1, 7, 64, 75, 127, 128, 255]) {
      const run = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--', 'sh', '-c', `exit ${code}`])
      expect(run.code).toBe(code)
      expect(await lab.status('s')).toMatchObject({ state: code === 0 ? 'completed' : 'failed', exit: { code, signal: null } })
    }
    await lab.ok(lab.detached('d', 'sh', '-c', 'exit 42'))
    expect((await lab.hf(['wait', 'd'])).code).toBe(42)
    expect(await lab.status('d')).toMatchObject({ state: 'failed', exit: { code: 42, signal: null }, reason: 'exit code 42' })
  }),
)

verifies('evidence', 'signals are told as signals', () =>
  inLab(async (lab) => {
    for (const [signal, number] of [
      ['KILL', 9],
      ['TERM', 15],
      ['SEGV', 11],
      ['USR1', 10],
    ] as const) {
      const run = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--', 'sh', '-c', `kill -${signal} $$`])
      expect(run.code, signal).toBe(128 + number)
      expect(await lab.status('s')).toMatchObject({ state: 'failed', exit: { signal: `SIG${signal}` } })
    }
  }),
)

verifies('evidence', 'what could not be started failed, and says why', () =>
  inLab(async (lab) => {
    writeFileSync(join(lab.dir, 'plain'), 'not a program')
    writeFileSync(join(lab.dir, 'broken'), '#!/nonexistent/interpreter\n')
    chmodSync(join(lab.dir, 'broken'), 0o755)
    for (const [program, code] of [
      ['/nonexistent/agent', 127],
      ['no-such-agent-anywhere', 127],
      [join(lab.dir, 'plain'), 127],
      [join(lab.dir, 'broken'), 127],
      [lab.dir, 127],
    ] as const) {
      for (const detach of [[], ['--detach']]) {
        const run = await lab.hf(['run', '--session', 's', '--dir', lab.dir, ...detach, '--', program])
        if (detach.length === 0) expect([code, 126], program).toContain(run.code)
        else if (program.includes('no') && !program.includes('broken'))
          expect(run, program).toMatchObject({ code: 66, stderr: expect.stringContaining('not found (ENOENT)') as string })
        else if (program.includes('broken'))
          expect(run, program).toMatchObject({ code: 66, stderr: expect.stringContaining('the interpreter that it names is missing') as string })
        await until('the end', async () => (await lab.status('s')).state === 'failed')
        expect((await lab.status('s')).reason, program).toMatch(/^could not start .*(not found|not executable)/)
      }
    }
  }),
)

verifies('evidence', 'an agent whose keeper died ends as lost: no code is invented', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { keeper, pid } = await lab.unguarded('s')
    process.kill(keeper, 'SIGKILL')
    await gone(keeper)
    expect(await lab.status('s')).toMatchObject({
      state: 'running',
      liveness: 'alive',
      pid,
      note: expect.stringContaining('keeper is gone') as string,
    })
    expect((await lab.hf(['run', '--session', 's', '--dir', lab.newDir(), '--detach', '--', AGENT, 'idle'])).code).toBe(75)
    process.kill(pid, 'SIGKILL')
    // Not only dead but reaped: a zombie would still tell how it ended.
    await until('init to reap it', () => stateOf(pid) === null)
    const lost = await lab.status('s')
    expect(lost).toMatchObject({ state: 'lost', exit: null })
    expect(lost.reason).toBeTruthy()
    await lab.ok(['reconcile'])
    expect(await lab.status('s')).toEqual(lost)
  }),
)

verifies('gate', 'a launch that was hung up on before its agent began never started, and is not lost', () =>
  inLab(async (lab) => {
    const run = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--', 'touch', 'ran'], {
      command: TEST_COMMAND,
      env: { HOLDFAST_FAILPOINTS: 'before:keepers.handOver=kill' },
    })
    expect(run.code).toBe(137)
    await lab.ok(['reconcile'])
    expect(await lab.status('s')).toMatchObject({ state: 'failed', exit: null, reason: expect.stringMatching(/^it never started/) as string })
    expect(existsSync(join(lab.dir, 'ran'))).toBe(false)
  }),
)

verifies('final', 'instant exits never end as running', () =>
  inLab(async (lab) => {
    const commands = [['true'], ['false'], ['/nonexistent/agent']]
    await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const run = await lab.hf(['run', '--session', `i${index}`, '--dir', lab.newDir(), '--detach', '--', ...(commands[index % 3] as string[])])
        expect(run.code, run.stderr).toBe(index % 3 === 2 ? 66 : 0)
      }),
    )
    const states = await until('all to end', async () => {
      const sessions = JSON.parse(await lab.ok(['ls', '--all', '--json'])) as { session: string; state: string }[]
      return sessions.length === 30 && sessions.every(({ state }) => !['starting', 'running', 'stopping'].includes(state)) ? sessions : null
    })
    for (const { session, state } of states) expect(state, session).toBe(['completed', 'failed', 'failed'][Number(session.slice(1)) % 3])
    expect(JSON.parse(await lab.ok(['locks', '--json']))).toEqual([])
  }),
)

verifies('evidence', 'a store that is busy while a run is finished costs nothing: the next look finishes it from the record', () =>
  inLab(async (lab) => {
    const run = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--', 'sh', '-c', 'exit 9'], {
      command: TEST_COMMAND,
      env: { HOLDFAST_FAILPOINTS: 'before:store.claims.recordEnded=throw' },
    })
    expect(run.code).toBe(9)
    expect(await lab.status('s')).toMatchObject({
      state: 'failed',
      exit: { code: 9, signal: null },
      evidence: expect.arrayContaining([expect.stringContaining('exit record')]) as string[],
    })
  }),
)

verifies('evidence', 'a finisher killed at any of its steps costs nothing either', () =>
  inLab(async (lab) => {
    for (const point of [
      'before:store.runs.get',
      'before:store.claims.recordEnded',
      'after:store.claims.recordEnded',
      'before:store.claims.recordExited',
      'after:store.claims.recordExited',
    ]) {
      const run = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--', 'sh', '-c', 'sleep 1000 & exit 5'], {
        command: TEST_COMMAND,
        env: { HOLDFAST_FAILPOINTS: `${point}=kill` },
      })
      // The planner asks the store too, so some points end the command before anything ran.
      if (run.code === 137) continue
      expect(run.code, point).toBe(5)
      await lab.ok(['reconcile'])
      expect(await lab.status('s'), point).toMatchObject({ state: 'failed', exit: { code: 5 } })
    }
  }),
)
