import { spawn } from 'node:child_process'
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { daemonStatus, folderOf, hasLog, logOf, ownOf, signal, started } from '../real/daemon-lab.ts'
import { COMMAND, collect, gone, inLab, isAlive, readOr, TEST_COMMAND, until } from '../real/lab.ts'
import { onTerminal } from '../real/terminal.ts'
import { verifies } from '../requirements.ts'

test('a home that is removed or replaced ends it, and is not made again', () =>
  inLab(async (lab) => {
    const pid = await started(lab)
    renameSync(lab.home, `${lab.home}.away`)
    await gone(pid)
    expect(existsSync(lab.home)).toBe(false)
    const away = { env: { HOLDFAST_HOME: `${lab.home}.away` } }
    expect(readOr(join(`${lab.home}.away`, 'daemon', 'log'))).toMatch(
      new RegExp(`${pid} ends: the home was removed or replaced\\n[\\s\\S]*${pid} ended: exit code 69\\n$`),
    )
    expect(await lab.hf(['daemon', 'status'], away)).toMatchObject({ stdout: 'no daemon runs\n', stderr: '' })
    for (const name of ['health.json', 'daemon.json', 'sock']) expect(existsSync(join(`${lab.home}.away`, 'daemon', name)), name).toBe(false)
    const other = await started(lab)
    rmSync(lab.home, { recursive: true, force: true, maxRetries: 5 })
    await gone(other)
    await new Promise((next) => setTimeout(next, 300))
    expect(existsSync(lab.home)).toBe(false)
  }))

test('a home with a path longer than any socket may have', () =>
  inLab(async (lab) => {
    const home = join(lab.dir, 'x'.repeat(90), 'y'.repeat(90), 'home')
    const env = { HOLDFAST_HOME: home }
    const pid = await started(lab, { env })
    expect(await daemonStatus(lab, { env })).toMatchObject({ pid, healthy: true, answered: true })
    expect(lstatSync(join(home, 'daemon', 'sock')).isSocket()).toBe(true)
    unlinkSync(join(home, 'daemon', 'sock'))
    await until('it to answer', async () => (await daemonStatus(lab, { env })).answered)
    await lab.ok(['daemon', 'stop'], { env })
    expect(existsSync(join(home, 'daemon', 'sock'))).toBe(false)
    expect(isAlive(pid)).toBe(false)
  }))

test('daemon run on a terminal says its lines there; the terminal is closed, and it goes on', () =>
  inLab(async (lab) => {
    let pid = 0
    await onTerminal(lab, [COMMAND, 'daemon', 'run'], async (terminal) => {
      await terminal.sees(/started: holdfast/)
      pid = (await daemonStatus(lab)).pid ?? 0
      expect((await daemonStatus(lab)).startedBy).toBe('run')
      terminal.close()
      await hasLog(lab, /SIGHUP: it goes on/)
    })
    // What it says now goes nowhere but to its log.
    signal(lab, pid, 'SIGHUP')
    await until('a second line', () => logOf(lab).match(/SIGHUP/g)?.length === 2)
    expect(await daemonStatus(lab)).toMatchObject({ pid, healthy: true })
    await lab.ok(['daemon', 'stop'])
    expect(logOf(lab)).toMatch(new RegExp(`${pid} ended: exit code 0`))
  }))

verifies('bounded', 'a closed pipe, or one that nobody reads, neither ends it nor holds it up', () =>
  inLab(async (lab) => {
    const child = lab.start(['daemon', 'run'])
    const done = new Promise<number | null>((over) => child.once('exit', over))
    await until('it to run', async () => (await daemonStatus(lab)).answered)
    child.stderr?.destroy()
    child.stdout?.destroy()
    for (let round = 1; round <= 5; round++) {
      signal(lab, child.pid ?? 0, 'SIGHUP')
      await until('a line', () => (logOf(lab).match(/SIGHUP/g)?.length ?? 0) >= round)
    }
    expect(await daemonStatus(lab)).toMatchObject({ pid: child.pid, healthy: true })
    signal(lab, child.pid ?? 0, 'SIGINT')
    expect(await done).toBe(0)
    expect(logOf(lab)).toMatch(/ends: SIGINT[\s\S]*ended: exit code 0/)
    // A reader that has gone to sleep: the pipe is full from the start.
    const stuck = spawn('bash', ['-c', `{ head -c 65536 /dev/zero >&2; exec ${COMMAND} daemon run; } 2> >(exec sleep 1000)`], {
      env: lab.env,
      cwd: lab.dir,
      stdio: 'ignore',
    })
    const left = new Promise<unknown>((over) => stuck.once('exit', (code, name) => over(code ?? name)))
    const { pid } = await until('it to run', async () => {
      const status = await daemonStatus(lab)
      return status.answered && status
    })
    expect(pid).toBe(stuck.pid)
    await lab.ok(['daemon', 'stop'])
    expect(['SIGKILL', 0]).toContain(await left)
    expect(logOf(lab)).toMatch(new RegExp(`${pid} ended: exit code 0`))
    for (const sleeper of ownOf(lab, /^sleep 1000 $/)) process.kill(sleeper, 'SIGKILL')
  }),
)

verifies('stop-proof', 'born inside a session it lives on when that session is stopped; so does one that was only run there', () =>
  inLab(async (lab) => {
    const started_ = `"${COMMAND}" daemon start >$FA_DIR/said 2>&1; echo $$ >$FA_DIR/main.pid; exec sleep 1000`
    const run_ = `"${COMMAND}" daemon run >$FA_DIR/said 2>&1 & echo $$ >$FA_DIR/main.pid; exec sleep 1000`
    for (const script of [started_, run_]) {
      const session = script === run_ ? 'running' : 'starting'
      rmSync(join(lab.agentDir, 'main.pid'), { force: true })
      await lab.ok(lab.detached(session, 'sh', '-c', script))
      await lab.pid('main')
      const { pid } = await until('the daemon', async () => {
        const status = await daemonStatus(lab)
        return status.answered && status
      })
      const environ = readOr(`/proc/${pid}/environ`)
      if (script === started_) expect(environ).not.toMatch(/HOLDFAST_(LINEAGE|SESSION|RUN|EPOCH|FENCE)=/)
      const { members } = JSON.parse(await lab.ok(['tree', session, '--json'])) as { members: { pid: number }[] }
      expect(members.map((member) => member.pid)).not.toContain(pid)
      await lab.ok(['stop', session])
      expect(await daemonStatus(lab)).toMatchObject({ pid, healthy: true })
      await lab.ok(['daemon', 'stop'])
      expect(isAlive(pid ?? 0)).toBe(false)
    }
  }),
)

test('a store of a newer Holdfast ends it, with a line and 69', () =>
  inLab(async (lab) => {
    const child = lab.start(['daemon', 'run'])
    const done = collect(child)
    await until(
      'its first round',
      async () =>
        (await daemonStatus(lab)).parts.find(({ name }) => name === 'reconcile')?.failures === 0 && existsSync(join(lab.home, 'holdfast.db')),
    )
    const bump =
      "const { DatabaseSync } = require('@photostructure/sqlite'); const db = new DatabaseSync(process.argv[1]); db.exec('PRAGMA busy_timeout = 5000; PRAGMA user_version = 999'); db.close()"
    expect((await collect(spawn(process.execPath, ['-e', bump, join(lab.home, 'holdfast.db')], { env: lab.env }))).code).toBe(0)
    expect((await done).code).toBe(69)
    expect(logOf(lab)).toMatch(/ends: the store .* has format 999, this Holdfast knows \d+: a newer Holdfast is at work here/)
    expect((await lab.hf(['daemon', 'status'])).stdout).toBe('no daemon runs\n')
    const again = await lab.hf(['daemon', 'start'])
    expect([again.code, again.stderr]).toEqual([
      69,
      expect.stringMatching(
        /could not be started: it ended with 69; it said: .*did not start: the store .* has format 999.* \/ +use the newer Holdfast that wrote it/,
      ) as string,
    ])
  }))

test('a bug ends it with its stack in the log', () =>
  inLab(async (lab) => {
    const broken = join(lab.dir, 'broken.cjs')
    writeFileSync(broken, "if (process.argv.includes('run')) setTimeout(() => { throw new Error('a hole in the hull') }, 1500)")
    const child = lab.start(['daemon', 'run'], { env: { NODE_OPTIONS: `--require ${broken}` } })
    expect((await collect(child)).code).toBe(70)
    expect(logOf(lab)).toMatch(/ends: a bug: Error: a hole in the hull\n {2} +at [\s\S]*ended: exit code 70/)
    expect((await lab.hf(['daemon', 'status'])).stderr).toBe('')
  }))

verifies('stop-proof', 'one that does not leave when it is told is killed, with a word, and leaves nothing', () =>
  inLab(async (lab) => {
    // It freezes on its way out.
    const env = { HOLDFAST_FAILPOINTS: 'before:daemon.removeRecord=stop' }
    const pid = await started(lab, { command: TEST_COMMAND, env })
    expect(JSON.parse(await lab.ok(['daemon', 'stop', '--json']))).toEqual({ stopped: true, pid, killed: true, repaired: [] })
    expect(isAlive(pid)).toBe(false)
    expect(logOf(lab)).toMatch(new RegExp(`pid ${pid} did not end within 10 s and was killed`))
    expect((await lab.hf(['daemon', 'status'])).stderr).toBe('')
    expect(existsSync(join(folderOf(lab), 'daemon.json'))).toBe(false)
    expect((await lab.hf(['daemon', 'pause'])).code).toBe(64)
  }),
)

test('another version is told by start and by status', () =>
  inLab(async (lab) => {
    const dist = join(lab.dir, 'newer', 'dist')
    mkdirSync(join(lab.dir, 'newer', 'bin'), { recursive: true })
    mkdirSync(dist)
    for (const name of ['cli.cjs', 'daemon.cjs'])
      writeFileSync(join(dist, name), readFileSync(join('dist', name), 'utf8').replaceAll('"0.1.0"', '"9.9.9"'))
    cpSync(COMMAND, join(lab.dir, 'newer', 'bin', 'holdfast'))
    symlinkSync(resolve('node_modules'), join(lab.dir, 'newer', 'node_modules'))
    const newer = { command: join(lab.dir, 'newer', 'bin', 'holdfast') }
    const pid = await started(lab)
    const word = 'the daemon is 0.1.0, this command 9.9.9: holdfast daemon stop && holdfast daemon start'
    const again = await lab.hf(['daemon', 'start'], newer)
    expect([again.code, again.stdout, again.stderr]).toEqual([0, `the daemon runs already (pid ${pid})\n`, `holdfast: ${word}\n`])
    expect(await lab.ok(['daemon', 'status'], newer)).toContain(word)
    expect(await lab.ok(['daemon', 'status'])).not.toContain('this command')
    await lab.ok(['daemon', 'stop'], newer)
    await started(lab, newer)
    expect(await daemonStatus(lab)).toMatchObject({ version: '9.9.9', healthy: true })
    await lab.ok(['daemon', 'stop'])
  }))

verifies('visible', 'what fails is seen in status, in the file, in the log and as events, and that it is well again', () =>
  inLab(async (lab) => {
    await started(lab)
    const store = join(lab.home, 'holdfast.db')
    const isWell = (well: boolean) => until(`healthy: ${well}`, async () => (await daemonStatus(lab)).healthy === well, 120_000)
    await until('a store', () => existsSync(store))
    for (const name of ['', '-wal', '-shm']) if (existsSync(store + name)) renameSync(store + name, `${store}${name}.aside`)
    writeFileSync(store, 'this is no database, and longer than a header')
    await isWell(false)
    // One that is busy may not answer at once.
    const { code, stdout } = await until('its answer', async () => {
      const status = await lab.hf(['daemon', 'status'])
      return !status.stdout.includes('does not answer') && status
    })
    expect([code, stdout]).toEqual([69, expect.stringMatching(/unhealthy: reconcile: the store .* is not a SQLite database/)])
    expect(stdout).toMatch(/reconcile +failing ×\d+ since \d+s +(next in|at work)/)
    await until('the file to say so', () => /"healthy":false/.test(readOr(join(folderOf(lab), 'health.json'))))
    await hasLog(lab, /reconcile failed: the store .*; it is tried again in \d+ s/)
    rmSync(store)
    for (const name of ['', '-wal', '-shm']) if (existsSync(`${store}${name}.aside`)) renameSync(`${store}${name}.aside`, store + name)
    await isWell(true)
    await hasLog(lab, /reconcile: well again/)
    await lab.ok(['daemon', 'stop'])
    expect(await lab.ok(['events', '-n', '200'])).toMatch(
      /daemon started \(pid \d+\): version \S+, by start\n.*daemon unhealthy[\s\S]*daemon healthy[\s\S]*daemon ended \(pid \d+\): SIGTERM/,
    )
    // One whose store is well, and whose rounds are not.
    await started(lab, { command: TEST_COMMAND, env: { HOLDFAST_FAILPOINTS: 'before:store.runs.live=throw' } })
    await until('the event', async () => /daemon unhealthy: reconcile: failpoint store.runs.live/.test(await lab.ok(['events'])))
    await lab.ok(['daemon', 'stop'])
    const events = JSON.parse(await lab.ok(['events', '--json'])) as { kind: string; session: string; detail: { what: string } }[]
    expect(events.filter(({ kind }) => kind === 'daemon').map(({ session, detail }) => `${session}${detail.what}`)).toEqual([
      'started',
      // It could not be recorded while it was so.
      'unhealthy',
      'healthy',
      'ended',
      'started',
      'unhealthy',
      'ended',
    ])
  }),
)
