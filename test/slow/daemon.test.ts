import { spawn, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, renameSync, rmdirSync, rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cwdOf, daemonStatus, daemonsOf, folderOf, frozen, hasLog, logOf, ownOf, pidIn, sessionOf, signal, started } from '../real/daemon-lab.ts'
import { COMMAND, gone, inLab, inNamespace, isAlive, type Lab, nodeStartMs, readOr, stateOf, TEST_COMMAND, until } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

verifies('one-owner', 'ten starts at once, each with folders and variables of its own, make one daemon, and all name it', () =>
  inLab(async (lab) => {
    const starts = Array.from({ length: 10 }, () => {
      const own = lab.newDir()
      return lab.hf(['daemon', 'start'], { cwd: own, env: { TMPDIR: own, XDG_RUNTIME_DIR: own } })
    })
    const results = await Promise.all(starts)
    expect(results.map(({ code, stderr }) => `${code}${stderr}`)).toEqual(results.map(() => '0'))
    const pids = new Set(results.map(({ stdout }) => pidIn(stdout)))
    expect(pids.size).toBe(1)
    expect(results.filter(({ stdout }) => !stdout.includes('already'))).toHaveLength(1)
    await until('the losers to be gone', () => daemonsOf(lab).length === 1)
    const status = await daemonStatus(lab)
    expect(status).toMatchObject({ pid: [...pids][0], healthy: true, answered: true, liveness: 'alive', startedBy: 'start', why: null })
    expect(await lab.ok(['daemon', 'stop'])).toMatch(/stopped, and seen gone/)
    expect(isAlive(status.pid ?? 0)).toBe(false)
  }),
)

verifies('private', 'it has a session, a folder and a clean environment of its own, and nothing that others can read', () =>
  inLab(async (lab) => {
    const elsewhere = lab.newDir()
    // What its caller holds open is not for one that outlives him.
    const lock = join(lab.agentDir, 'caller.lock')
    const { status } = spawnSync('bash', ['-c', `exec 200>"$1"; flock 200; "$2" daemon start`, 'bash', lock, COMMAND], {
      env: lab.env,
      timeout: 120_000,
    })
    expect([status, spawnSync('sh', ['-c', 'flock -n "$0" true', lock]).status]).toEqual([0, 0])
    await lab.ok(['daemon', 'stop'])
    const pid = await started(lab, { cwd: elsewhere, env: { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'x', HOLDFAST_SESSION: 'x', KEPT: 'yes' } })
    rmdirSync(elsewhere)
    expect(cwdOf(pid)).toBe(folderOf(lab))
    expect(sessionOf(pid)).toBe(pid)
    const environ = readOr(`/proc/${pid}/environ`).split('\0')
    expect(environ).toContain(`HOLDFAST_HOME=${lab.home}`)
    expect(environ).toContain('KEPT=yes')
    expect(environ.filter((entry) => /^(CLAUDE|HOLDFAST_SESSION|OLDPWD)/.test(entry))).toEqual([])
    expect(statSync(folderOf(lab)).mode & 0o777).toBe(0o700)
    for (const name of ['log', 'lock.db', 'daemon.json', 'sock', 'health.json'])
      await until(
        `${name} to be there, and private`,
        () => (lstatSync(join(folderOf(lab), name), { throwIfNoEntry: false })?.mode ?? 0o777) % 0o100 === 0,
      )
    for (const fd of [1, 2]) expect(statSync(`/proc/${pid}/fd/${fd}`).ino).toBe(statSync(join(folderOf(lab), 'log')).ino)
    signal(lab, pid, 'SIGHUP')
    await hasLog(lab, /SIGHUP: it goes on/)
    // By this one Node would let everybody on the machine debug it.
    signal(lab, pid, 'SIGUSR1')
    signal(lab, pid, 'SIGUSR2')
    for (const heard of [/SIGUSR1: it means nothing/, /SIGUSR2: it means nothing/]) await hasLog(lab, heard)
    expect(logOf(lab)).not.toMatch(/Debugger/)
    expect((await daemonStatus(lab)).pid).toBe(pid)
    signal(lab, pid, 'SIGALRM')
    await gone(pid)
    expect(logOf(lab)).toMatch(/ends: SIGALRM\n[\s\S]*ended: exit code 0/)
  }),
)

verifies('one-owner', 'a frozen one is never replaced: start and status say so soon, and stop ends it', () =>
  inLab(async (lab) => {
    const pid = await started(lab)
    await frozen(lab, pid)
    const before = performance.now()
    const again = await lab.hf(['daemon', 'start'])
    expect(again.code).toBe(69)
    expect(again.stderr).toMatch(new RegExp(`pid ${pid}, frozen\\) holds this home but does not answer`))
    expect(performance.now() - before).toBeLessThan(7_000 + nodeStartMs() * 20)
    const run = await lab.hf(['daemon', 'run'])
    expect([run.code, run.stderr]).toEqual([75, expect.stringContaining(`pid ${pid}`) as string])
    const { code, stdout } = await lab.hf(['daemon', 'status'])
    expect([code, stdout]).toEqual([69, expect.stringMatching(/does not answer: it is frozen.*; as of \d+s ago: healthy/) as string])
    expect(await daemonStatus(lab)).toMatchObject({ pid, healthy: false, answered: false, frozen: true, liveness: 'alive' })
    expect(daemonsOf(lab)).toEqual([pid])
    await lab.ok(['daemon', 'stop'])
    expect(isAlive(pid)).toBe(false)
    expect(await lab.ok(['daemon', 'stop'])).toBe('no daemon runs\n')
  }),
)

verifies('visible', 'nothing else waits for a frozen one, or answers otherwise', () =>
  inLab(async (lab) => {
    const all = async (name: string): Promise<unknown[]> => {
      const dir = lab.newDir()
      const answers: unknown[] = []
      for (const args of [
        ['run', '--session', name, '--dir', dir, '--detach', '--', 'sleep', '1000'],
        ['ls'],
        ['status', name],
        ['lock', '--check', dir],
        ['events', name],
        ['stop', name],
        ['reconcile'],
      ]) {
        const begun = performance.now()
        const { code } = await lab.hf(args)
        answers.push([args[0], code])
        expect(performance.now() - begun, args.join(' ')).toBeLessThan(4_000 + nodeStartMs() * 20)
      }
      return answers
    }
    const without = await all('without')
    const pid = await started(lab)
    await frozen(lab, pid)
    expect(await all('with')).toEqual(without)
    signal(lab, pid, 'SIGCONT')
    await until('it to answer again', async () => (await daemonStatus(lab)).healthy)
    await lab.ok(['daemon', 'stop'])
  }),
)

verifies('visible', 'what a killed one left is repaired with a word, by start and by status, and its end is in the log', () =>
  inLab(async (lab) => {
    let pid = await started(lab)
    for (const verb of ['status', 'start', 'stop']) {
      signal(lab, pid, 'SIGKILL')
      await gone(pid)
      expect(existsSync(join(folderOf(lab), 'sock'))).toBe(true)
      const { code, stderr } = await lab.hf(['daemon', verb])
      expect(code).toBe(verb === 'status' ? 69 : 0)
      expect(stderr).toMatch(new RegExp(`pid ${pid} ended without a word .*; removed what it left: daemon.json, sock`))
      expect(logOf(lab)).toContain(`pid ${pid} ended without a word`)
      expect(existsSync(join(folderOf(lab), 'sock'))).toBe(verb === 'start')
      expect((await lab.hf(['daemon', 'status'])).stderr).toBe('')
      pid = await started(lab)
    }
    await lab.ok(['daemon', 'stop'])
    expect(await lab.ok(['events', '-n', '200'])).toMatch(/daemon ended .*: without a word/)
    // Every one of them began its lines below those of the one before.
    expect(logOf(lab).match(/started: holdfast/g)).toHaveLength(4)
  }),
)

test('whatever lies in the place of its files is repaired, or told clearly', () =>
  inLab(async (lab) => {
    const folder = folderOf(lab)
    mkdirSync(folder, { recursive: true, mode: 0o755 })
    const put: Record<string, (path: string) => void> = {
      empty: (path) => writeFileSync(path, ''),
      zero: (path) => writeFileSync(path, '0'),
      garbage: (path) => writeFileSync(path, 'SQLite format 3\0garbage'.repeat(300)),
      folder: (path) => mkdirSync(join(path, 'inner'), { recursive: true }),
    }
    for (const name of ['lock.db', 'daemon.json', 'health.json', 'sock'])
      for (const [what, make] of Object.entries(put)) {
        rmSync(join(folder, name), { recursive: true, force: true })
        make(join(folder, name))
        expect((await daemonStatus(lab)).pid, `${name}: ${what}`).toBeNull()
        const pid = await started(lab)
        expect(await daemonStatus(lab), `${name}: ${what}`).toMatchObject({ pid, healthy: true })
        await lab.ok(['daemon', 'stop'])
      }
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    // A link or a pipe is never opened.
    rmSync(join(folder, 'lock.db'))
    symlinkSync('/dev/zero', join(folder, 'lock.db'))
    for (const verb of ['start', 'stop', 'status']) {
      const { code, stderr } = await lab.hf(['daemon', verb])
      expect([code, stderr]).toEqual([69, expect.stringMatching(/lock.db is not a file, so nobody can hold this home\n {2}move it away/) as string])
    }
    // Who is asked what is wrong says all the rest, too.
    const { code, stdout } = await lab.hf(['doctor'])
    expect([code, stdout]).toEqual([76, expect.stringMatching(/lock.db is not a file/) as string])
    expect(stdout).toMatch(/containment/)
    // Nothing is written, or cut, where a link in the place of the log leads.
    rmSync(join(folder, 'lock.db'))
    rmSync(join(folder, 'log'), { force: true })
    const victim = join(lab.agentDir, 'victim')
    writeFileSync(victim, 'mine')
    symlinkSync(victim, join(folder, 'log'))
    await started(lab)
    await lab.ok(['daemon', 'stop'])
    expect(readOr(victim)).toBe('mine')
    expect(logOf(lab)).toMatch(/started: holdfast/)
  }))

verifies('bounded', 'nobody waits for the other end of a pipe in the place of its files', () =>
  inLab(async (lab) => {
    const at = (...names: string[]): string[] => names.map((name) => join(folderOf(lab), name))
    mkdirSync(folderOf(lab), { recursive: true, mode: 0o700 })
    expect(spawnSync('mkfifo', at('daemon.json', 'health.json', 'log', 'port', 'notified')).status).toBe(0)
    expect((await daemonStatus(lab)).pid).toBeNull()
    expect(spawnSync('mkfifo', at('daemon.json')).status).toBe(0)
    const pid = await started(lab)
    expect(await daemonStatus(lab)).toMatchObject({ pid, healthy: true })
    await lab.ok(['daemon', 'stop'])
    expect(logOf(lab)).toMatch(/started: holdfast[\s\S]*ended: exit code 0/)
  }),
)

test('a home that cannot be written is told as such by each of its verbs', () =>
  inLab(async (lab) => {
    const pid = await started(lab)
    signal(lab, pid, 'SIGKILL')
    await gone(pid)
    const verbs = ['status', 'start', 'stop', 'run'].map((verb) => `code=0; "${COMMAND}" daemon ${verb} 2>&1 || code=$?; echo "${verb} $code"`)
    const { stdout } = inNamespace(
      ['mount --bind "$HOLDFAST_HOME" "$HOLDFAST_HOME"; mount -o remount,ro,bind "$HOLDFAST_HOME"', ...verbs].join('\n'),
      lab.env,
    )
    const told = `holdfast: the daemon's folder cannot be used: ${folderOf(lab)}/FILE: EROFS`
    const hint = '  free space, make the home writable and your own, or move away what lies there'
    // Which one it meets first depends on how far the killed one had come.
    expect(stdout.replaceAll(/daemon\/[\w.-]+: EROFS/g, 'daemon/FILE: EROFS')).toBe(
      ['status', 'start', 'stop', 'run'].map((verb) => `${told}\n${hint}\n${verb} 69\n`).join(''),
    )
  }))

verifies('identity', 'a record of a living stranger, or of another boot, is nobody to wait for and nobody to signal', () =>
  inLab(async (lab) => {
    const pid = await started(lab)
    const record = JSON.parse(readOr(join(folderOf(lab), 'daemon.json'))) as { process: object; place: object }
    await lab.ok(['daemon', 'stop'])
    const stranger = spawn('sleep', ['1000'], { stdio: 'ignore', env: { PATH: process.env['PATH'] } })
    try {
      const ticks = Number(
        readOr(`/proc/${stranger.pid}/stat`)
          .replace(/^.*\) /, '')
          .split(' ')[19],
      )
      for (const forged of [
        { process: { pid: stranger.pid, ticks } },
        { process: { pid: stranger.pid, ticks: 1 } },
        { place: { ...record.place, boot: 'other' } },
      ]) {
        writeFileSync(join(folderOf(lab), 'daemon.json'), JSON.stringify({ ...record, ...forged }))
        expect(await lab.ok(['daemon', 'stop'])).toBe('no daemon runs\n')
        writeFileSync(join(folderOf(lab), 'daemon.json'), JSON.stringify({ ...record, ...forged }))
        expect(await started(lab)).not.toBe(pid)
        await lab.ok(['daemon', 'stop'])
      }
      expect(isAlive(stranger.pid ?? 0)).toBe(true)
    } finally {
      stranger.kill('SIGKILL')
    }
  }),
)

test('socket, record and lock file are restored while it lives, and another start meanwhile finds it', () =>
  inLab(async (lab) => {
    const pid = await started(lab)
    const at = (name: string): string => join(folderOf(lab), name)
    const answers = (): Promise<boolean> => until('it to answer', async () => (await daemonStatus(lab)).answered)
    unlinkSync(at('sock'))
    await until('a socket', () => lstatSync(at('sock'), { throwIfNoEntry: false })?.isSocket())
    await answers()
    writeFileSync(at('sock.new'), 'no socket')
    renameSync(at('sock.new'), at('sock'))
    await until('a socket', () => lstatSync(at('sock'), { throwIfNoEntry: false })?.isSocket())
    writeFileSync(at('daemon.json'), '0')
    await hasLog(lab, /the record was not ours/)
    unlinkSync(at('lock.db'))
    // Right away, before it has seen that itself; and once it has.
    expect(pidIn(await lab.ok(['daemon', 'start']))).toBe(pid)
    await hasLog(lab, /the lock file was gone: the home is held anew/)
    expect((await lab.hf(['daemon', 'run'])).code).toBe(75)
    await answers()
    expect(daemonsOf(lab)).toEqual([pid])
    await lab.ok(['daemon', 'stop'])
    expect(existsSync(at('sock'))).toBe(false)
    expect(existsSync(at('daemon.json'))).toBe(false)
  }))

/** Puts a lock file in the place of the daemon's that it holds itself, as somebody who looks or repairs does, until its input ends. */
const HOLD = `const { DatabaseSync } = require('@photostructure/sqlite'); const fs = require('node:fs')
const [path, how] = process.argv.slice(1); const db = new DatabaseSync(path + '.new', { timeout: 0 })
db.exec('PRAGMA journal_mode = MEMORY; ' + how); fs.renameSync(path + '.new', path); console.log('held'); process.stdin.resume().on('end', () => db.close())`

async function holding(lab: Lab, how: string): Promise<() => Promise<void>> {
  const holder = spawn(process.execPath, ['-e', HOLD, join(folderOf(lab), 'lock.db'), how], { stdio: ['pipe', 'pipe', 'inherit'] })
  const done = new Promise((left) => holder.once('exit', left))
  await new Promise((told) => holder.stdout.once('data', told))
  return async () => {
    holder.stdin.end()
    expect(await done).toBe(0)
  }
}

verifies('one-owner', 'whoever has a new lock file for a moment is no reason to leave: it is taken again', () =>
  inLab(async (lab) => {
    const pid = await started(lab)
    for (const how of ['BEGIN EXCLUSIVE', 'BEGIN; SELECT count(*) FROM sqlite_schema']) {
      const before = logOf(lab).length
      const release = await holding(lab, how)
      await until('it to be told', () => /home failed: its lock file was taken away, and somebody holds/.test(logOf(lab).slice(before)))
      expect(isAlive(pid)).toBe(true)
      await release()
      await until('it to be held anew', () => logOf(lab).slice(before).includes('the lock file was gone: the home is held anew'))
    }
    expect(daemonsOf(lab)).toEqual([pid])
    expect(await daemonStatus(lab)).toMatchObject({ pid })
    await lab.ok(['daemon', 'stop'])
  }),
)

verifies('visible', 'one whose lock file was taken away still leaves no record, and what has a last word in the log did not end without one', () =>
  inLab(async (lab) => {
    const path = join(folderOf(lab), 'daemon.json')
    const pid = await started(lab)
    const record = readOr(path)
    const release = await holding(lab, 'BEGIN EXCLUSIVE')
    signal(lab, pid, 'SIGTERM')
    await gone(pid)
    await release()
    expect(existsSync(path)).toBe(false)
    expect(await lab.hf(['daemon', 'status'])).toMatchObject({ stdout: 'no daemon runs\n', stderr: '' })
    writeFileSync(path, record)
    expect((await lab.hf(['daemon', 'status'])).stderr).toContain(
      `the daemon with pid ${pid} is gone (its log says why); removed what it left: daemon.json`,
    )
  }),
)

verifies('identity', 'a command that holds the home while it repairs it is no daemon, and is not signalled', () =>
  inLab(async (lab) => {
    const pid = await started(lab)
    signal(lab, pid, 'SIGKILL')
    await gone(pid)
    const repairing = lab.start(['daemon', 'status'], { command: TEST_COMMAND, env: { HOLDFAST_FAILPOINTS: 'before:daemon.clear=stop' } })
    const done = new Promise((left) => repairing.once('exit', left))
    const held = await until('it to be stopped while it repairs', () => ownOf(lab, / daemon status/).find((one) => stateOf(one) === 'T'))
    const { code, stderr } = await lab.hf(['daemon', 'stop'])
    expect([code, stderr]).toEqual([76, expect.stringContaining(`pid ${held} holds this home, and nothing shows that it is a daemon`) as string])
    expect(stateOf(held)).toBe('T')
    signal(lab, held, 'SIGCONT')
    await done
    expect(await lab.ok(['daemon', 'stop'])).toBe('no daemon runs\n')
  }),
)

verifies('one-owner', 'one that was displaced leaves, and takes nothing of the living one with it', () =>
  inLab(async (lab) => {
    const first = await started(lab)
    await frozen(lab, first)
    // With record and lock file gone there is nothing by which anybody could know of it.
    for (const name of ['lock.db', 'daemon.json', 'sock']) unlinkSync(join(folderOf(lab), name))
    const second = await started(lab)
    expect(second).not.toBe(first)
    const socket = lstatSync(join(folderOf(lab), 'sock')).ino
    signal(lab, first, 'SIGCONT')
    await gone(first)
    expect(logOf(lab)).toMatch(new RegExp(`${first} ends: its lock file was taken away, and another daemon holds the home now`))
    expect(lstatSync(join(folderOf(lab), 'sock')).ino).toBe(socket)
    expect(await daemonStatus(lab)).toMatchObject({ pid: second, healthy: true })
    expect(existsSync(join(folderOf(lab), 'health.json'))).toBe(true)
    await lab.ok(['daemon', 'stop'])
    // What it had to put right would have been taken away.
    expect(logOf(lab)).not.toContain('written anew')
  }),
)

verifies('unknown', 'from another pid namespace it is seen held, and nothing is started, signalled or taken away', () =>
  inLab(async (lab) => {
    const pid = await started(lab)
    const verbs = ['status --json', 'start', 'stop', 'run']
    const script = verbs.map((verb) => `code=0; "${COMMAND}" daemon ${verb} 2>&1 || code=$?; echo "${verb} $code"`).join('\n')
    const { stdout } = inNamespace(script, lab.env)
    expect(stdout).toMatch(/"liveness":"unknown"[^\n]*another pid namespace/)
    expect(stdout).toMatch(/runs already \(pid \d+; it lives in another pid namespace[^\n]*\nstart 0/)
    expect(stdout).toMatch(/cannot be judged from here[\s\S]*nothing was signalled\nstop 76/)
    expect(stdout).toMatch(/run 75/)
    expect(daemonsOf(lab)).toEqual([pid])
    expect(await daemonStatus(lab)).toMatchObject({ pid, healthy: true })
    await lab.ok(['daemon', 'stop'])
  }),
)

verifies('unknown', 'one that was born in another pid namespace is seen from ours as such, and left alone', () =>
  inLab(async (lab) => {
    const namespace = [process.getuid?.() === 0 ? '-pf' : '-Urpf', '-m', '--mount-proc', '--kill-child']
    const child = spawn('unshare', [...namespace, COMMAND, 'daemon', 'run'], { env: lab.env, cwd: '/', stdio: 'ignore' })
    const left = new Promise((done) => child.once('exit', done))
    try {
      const status = await until('it to answer', async () => {
        const seen = await daemonStatus(lab)
        return seen.answered && seen.pid !== null && seen
      })
      expect(status).toMatchObject({ pid: 1, liveness: 'unknown', why: expect.stringMatching(/another pid namespace/) as string, startedBy: 'run' })
      const start = await lab.hf(['daemon', 'start'])
      expect([start.code, start.stdout]).toEqual([
        0,
        expect.stringMatching(/^the daemon runs already \(pid 1; it lives in another pid namespace/) as string,
      ])
      expect((await lab.hf(['daemon', 'stop'])).code).toBe(76)
      expect((await daemonStatus(lab)).answered).toBe(true)
    } finally {
      child.kill('SIGKILL')
      await left
    }
    await until('it to be gone', async () => (await daemonStatus(lab)).liveness === 'dead')
  }),
)
