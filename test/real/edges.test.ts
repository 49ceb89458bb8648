import { spawn } from 'node:child_process'
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { AGENT, COMMAND, collect, gone, inLab, isAlive, type Lab, readOr, unable, until } from './lab.ts'

const shell = (lab: Lab, script: string, env: NodeJS.ProcessEnv = {}) =>
  collect(spawn('bash', ['-c', script], { env: { ...lab.env, ...env, HF: COMMAND }, stdio: ['ignore', 'pipe', 'pipe'], cwd: lab.dir }))

test('bytes that are no text reach the agent as they are, in arguments and variables', () =>
  inLab(async (lab) => {
    const look = `sh -c 'printf "%s|%s" "$1" "$ODD" | od -An -tx1 >$FA_DIR/'`
    for (const detach of ['', '--detach']) {
      const out = detach === '' ? 'front' : 'detached'
      const script = `export ODD=$'\\xfe\\xc3('; "$HF" run --session s ${detach} -- ${look}${out} sh $'a\\xff \\xe9\\x27'`
      expect(await shell(lab, script)).toMatchObject({ code: 0 })
      const bytes = await until('what it got', () => readOr(join(lab.agentDir, out)).trim())
      expect(bytes).toBe('61 ff 20 e9 27 7c fe c3 28')
      await until('the end', async () => (await lab.status('s')).state === 'completed')
    }
    // It is on record, can be shown, and a next run gets the same.
    expect((await lab.hf(['status', 's'])).code).toBe(0)
    rmSync(join(lab.agentDir, 'detached'))
    expect(await shell(lab, `export ODD=$'\\xfe\\xc3('; "$HF" resume s`)).toMatchObject({ code: 0 })
    expect(readOr(join(lab.agentDir, 'detached')).trim()).toBe('61 ff 20 e9 27 7c fe c3 28')
  }))

test('an answer that cannot be written is a failure', () =>
  inLab(async (lab) => {
    const full = openSync('/dev/full', 'w')
    const child = spawn(COMMAND, ['ls'], { env: lab.env, stdio: ['ignore', full, 'pipe'] })
    closeSync(full)
    expect(await collect(child)).toMatchObject({ code: 69, stderr: 'holdfast: the answer could not be written to standard output: ENOSPC\n' })
  }))

test('logs as lines of JSON', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', 'printf', 'one\ntwo "2"\nrest'))
    await lab.ok(['wait', 's'])
    const lines = (await lab.ok(['logs', 's', '--json'])).trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { line: string }).line)).toEqual(['one', 'two "2"', 'rest'])
  }))

verifies('stop-proof', 'a run whose directory was deleted under it is stopped all the same, at once', () =>
  inLab(async (lab) => {
    for (const detach of [[], ['--detach']]) {
      const child = lab.start([
        'run',
        '--session',
        's',
        '--dir',
        lab.dir,
        ...detach,
        '--',
        'bash',
        '-c',
        'trap "exit 5" TERM; echo $$ >$FA_DIR/main.pid; while :; do sleep 0.02; done',
      ])
      const done = collect(child)
      const pid = await lab.pid('main')
      const { run } = (await lab.status('s')) as unknown as { run: string }
      rmSync(join(lab.home, 'runs', run), { recursive: true })
      const began = performance.now()
      // Its whole grace would be what it waits for in vain.
      await lab.ok(['stop', 's', '--grace', '90s'])
      expect(performance.now() - began).toBeLessThan(60_000)
      expect(isAlive(pid)).toBe(false)
      expect(await lab.status('s')).toMatchObject({ state: 'stopped', exit: { code: 5, signal: null } })
      expect((await done).code).toBe(detach.length === 0 ? 5 : 0)
      rmSync(join(lab.agentDir, 'main.pid'))
    }
  }),
)

verifies('evidence', 'when no process can be started any more, the agent’s end is still written down and comes back', () =>
  inLab(async (lab) => {
    if (process.getuid?.() !== 0) return unable('a limit on the processes of another user needs root')
    // All of its own: a uid that nobody else has, a home it may write, and room for nothing but what runs already.
    const uid = '61234'
    await collect(spawn('chown', ['-R', uid, join(lab.home, '..')]))
    const script = `
      "$HF" run --session s -- bash -c 'echo $$ >$FA_DIR/main.pid; until [ -e $FA_DIR/go ]; do read -t 0.05 x <>$FA_DIR/pipe; done; exit 7' & k=$!
      until [ -s $FA_DIR/main.pid ]; do sleep 0.05; done; sleep 0.5
      prlimit --pid $k --nproc=1:1; >$FA_DIR/go; wait $k; echo "code=$?"`
    await collect(spawn('mkfifo', [join(lab.agentDir, 'pipe')]))
    await collect(spawn('chown', [uid, join(lab.agentDir, 'pipe')]))
    const child = spawn('setpriv', ['--reuid', uid, '--regid', uid, '--clear-groups', 'bash', '-c', script], {
      env: { ...lab.env, HF: COMMAND },
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: lab.dir,
    })
    const done = await collect(child)
    expect(done.stdout, done.stderr).toBe('code=7\n')
    await collect(spawn('chown', ['-R', '0', join(lab.home, '..')]))
    expect(await lab.status('s')).toMatchObject({ state: 'failed', exit: { code: 7, signal: null } })
  }),
)

/** Puts something that is no database in the store's place, as a broken disk would. */
const breakStore = (lab: Lab): void => {
  for (const suffix of ['-wal', '-shm']) rmSync(join(lab.home, `holdfast.db${suffix}`), { force: true })
  writeFileSync(join(lab.home, 'holdfast.db'), 'this is no database, and long enough to be looked at as one'.repeat(20))
}

verifies('stop-proof', 'without the store a session is stopped with the runs started in it; one that has ended is not called unknown', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 'past', '--dir', lab.newDir(), '--', 'true'])
    const inner = `${COMMAND} run --session inner --dir ${lab.newDir()} --detach -- sleep 1000; exec sleep 1000`
    await lab.ok(lab.detached('outer', 'sh', '-c', inner))
    const other = lab.newDir()
    await lab.ok(['run', '--session', 'other', '--dir', other, '--detach', '--', AGENT, 'idle'])
    const child = await until('the inner run', async () => {
      const seen = await lab.hf(['status', 'inner', '--json'])
      return seen.code === 0 ? (JSON.parse(seen.stdout) as { pid: number }).pid : null
    })
    const [outer, stranger] = [(await lab.status('outer')).pid, (await lab.status('other')).pid]
    breakStore(lab)
    expect((await lab.hf(['status', 'past'])).code).toBe(69)
    const stopped = await lab.hf(['stop', 'outer'])
    expect(stopped.code, stopped.stderr).toBe(0)
    await Promise.all([outer, child].map(gone))
    expect(isAlive(stranger)).toBe(true)
    expect((await lab.hf(['stop', '--all'])).code).toBe(0)
    await gone(stranger)
  }),
)

verifies('visible', 'who reads waits for no writer', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid, keeper } = await lab.unguarded('s')
    const hold = `const { DatabaseSync } = require('@photostructure/sqlite'); const db = new DatabaseSync(${JSON.stringify(join(lab.home, 'holdfast.db'))});
      db.exec('BEGIN IMMEDIATE'); console.log('held'); setTimeout(() => {}, 600000)`
    const writer = spawn(process.execPath, ['-e', hold], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      await new Promise((next) => writer.stdout.once('data', next))
      process.kill(keeper, 'SIGKILL')
      await gone(keeper)
      process.kill(pid, 'SIGKILL')
      await gone(pid)
      const began = performance.now()
      // It cannot be recorded now, but it is shown as it is.
      const { state } = await lab.status('s')
      expect(['lost', 'failed']).toContain(state)
      expect((await lab.hf(['ls', '--all', '--json'])).stdout).toMatch(/"state":"(lost|failed)"/)
      expect(performance.now() - began).toBeLessThan(30_000)
    } finally {
      writer.kill('SIGKILL')
    }
    await until('the writer to be gone', () => !isAlive(writer.pid ?? 0))
    // Nobody could write it down yet; now somebody does.
    expect(await lab.ok(['reconcile'])).toMatch(/^s: running → (lost|failed)/)
  }),
)
