import { spawn } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { AGENT, COMMAND, collect, gone, inLab, inNamespace, isAlive, readOr, until } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

verifies('evidence', 'an exit code survives the signal that comes with it', () =>
  inLab(async (lab) => {
    const script = `trap 'exit 7' INT TERM; echo ready; while :; do sleep 0.02; done`
    for (let round = 0; round < 24; round++) {
      const child = spawn(COMMAND, ['run', '--session', 's', '--dir', lab.dir, '--', 'bash', '-c', script], {
        env: lab.env,
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      const done = collect(child)
      await new Promise((next) => child.stdout.once('data', next))
      process.kill(-(child.pid ?? 0), round % 2 === 0 ? 'SIGINT' : 'SIGTERM')
      expect((await done).code, `round ${round}`).toBe(7)
      expect((await lab.status('s')).exit, `round ${round}`).toEqual({ code: 7, signal: null })
    }
  }),
)

test('closed descriptors and foreign ones do no harm', () =>
  inLab(async (lab) => {
    const run = `${COMMAND} run --session s --dir ${lab.dir} --`
    const shell = (script: string) => collect(spawn('bash', ['-c', script], { env: lab.env, stdio: ['ignore', 'pipe', 'pipe'], cwd: lab.dir }))
    expect((await shell(`${run} true <&-`)).code).toBe(0)
    expect((await shell(`${run} true >&-`)).code).toBe(0)
    expect((await shell(`${run} true <&- >&- 2>&-`)).code).toBe(0)
    expect((await lab.status('s')).state).toBe('completed')
    expect((await shell(`echo given >f; ${run} cat /dev/fd/3 3<f`)).stdout).toBe('given\n')
    expect((await shell(`${run} sh -c 'echo to-four >&4' 4>g; cat g`)).stdout).toBe('to-four\n')
  }))

verifies('evidence', 'a keeper that takes its ear for dead is not held up by it: how its agent ended is written down', () =>
  inLab(async (lab) => {
    // A trap within a trap of dash can turn an answer around: here it always is.
    const copy = lab.newDir()
    for (const part of ['bin', 'dist']) cpSync(part, join(copy, part), { recursive: true })
    for (const part of ['package.json', 'node_modules']) symlinkSync(resolve(part), join(copy, part))
    const keeper = join(copy, 'dist', 'keeper.sh')
    const [before, after] = readFileSync(keeper, 'utf8').split('while hf_lives "$6"; do')
    if (before === undefined || after === undefined) return expect.unreachable('the keeper asks otherwise by now')
    writeFileSync(keeper, `${before}while false; do${after}`)
    const script = `trap '' USR1; echo $$ >$FA_DIR/main.pid; exec sleep 600`
    const child = lab.start(['run', '--session', 's', '--dir', lab.dir, '--', 'sh', '-c', script], { command: join(copy, 'bin', 'holdfast') })
    const agent = await lab.pid('main')
    child.kill('SIGUSR1')
    child.kill('SIGTERM')
    await until('its end', () => child.exitCode !== null || child.signalCode !== null)
    expect(isAlive(agent)).toBe(false)
    expect(await lab.status('s')).toMatchObject({ state: 'stopped', exit: { signal: 'SIGTERM' } })
  }),
)

test('USR1 to the command reaches the agent, and ends nobody else', () =>
  inLab(async (lab) => {
    const script = `trap 'echo got >$FA_DIR/got' USR1; echo $$ >$FA_DIR/main.pid; while :; do sleep 0.05; done`
    const child = lab.start(['run', '--session', 's', '--dir', lab.dir, '--', 'bash', '-c', script])
    await lab.pid('main')
    child.kill('SIGUSR1')
    await until('the trap', () => readOr(join(lab.agentDir, 'got')))
    expect(isAlive(child.pid ?? 0)).toBe(true)
    await lab.ok(['stop', 's'])
  }))

verifies('evidence', 'stop does not rename an end that came by itself', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', 'sh', '-c', 'sleep 0.3; exit 3'))
    const { keeper, pid } = await lab.status('s')
    process.kill(keeper, 'SIGSTOP')
    await gone(pid)
    await lab.ok(['stop', 's'])
    expect(await lab.status('s')).toMatchObject({ state: 'failed', exit: { code: 3 } })
    process.kill(keeper, 'SIGCONT')
  }),
)

verifies('bounded', '--timeout holds when the keeper was killed, and for a tree that outlives its harness', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 's', '--timeout', '2s', '--dir', lab.dir, '--detach', '--', AGENT, 'idle'])
    const { keeper, pid } = await lab.status('s')
    process.kill(keeper, 'SIGKILL')
    await gone(pid)
    await until('its end', async () => (await lab.status('s')).state === 'stopped')
    expect(await lab.status('s')).toMatchObject({ reason: 'its time was over (--timeout)' })
    const script = 'setsid sleep 1000 & echo $! >$FA_DIR/left.pid; exit 0'
    await lab.ok(['run', '--session', 't', '--until', 'tree', '--timeout', '2s', '--dir', lab.dir, '--detach', '--', 'sh', '-c', script])
    await gone(await lab.pid('left'))
    await until('its end', async () => (await lab.status('t')).state === 'stopped')
  }),
)

verifies('stop-proof', 'a keeper that is init of its container does not take orphans for its helpers', () =>
  inLab(async (lab) => {
    const script = `
      hf=${COMMAND}
      there() { [ "$(grep -la '^sleep.100[012]' /proc/[0-9]*/cmdline 2>/dev/null | wc -l)" = 3 ]; }
      ( n=0; until there || [ $((n += 1)) -gt 600 ]; do sleep 0.1; done; $hf tree s --json >$FA_DIR/seen; $hf stop s ) &
      exec $hf run --session s --dir ${lab.dir} -- sh -c '(setsid sleep 1000 &) ; (setsid sleep 1001 &) ; exec sleep 1002'`
    // The namespace ends with its init, and the stopper in it; that it ends at all is the proof.
    expect(inNamespace(script, lab.env).code).toBe(143)
    expect((JSON.parse(readOr(join(lab.agentDir, 'seen'))) as { members: unknown[] }).members).toHaveLength(3)
  }),
)

test("the agent's own options are not ours", () =>
  inLab(async (lab) => {
    const run = await lab.hf(['run', '--session', 's', '--dir', lab.dir, 'echo', '--home', '/nowhere', '--help', '--json', '--detach', '--', 'x'])
    expect(run).toMatchObject({ code: 0, stdout: '--home /nowhere --help --json --detach -- x\n' })
    expect((await lab.hf(['constructor'])).code).toBe(64)
    expect((await lab.hf(['--json', '--home', lab.home, 'ls'])).stdout).toBe('[]\n')
  }))
