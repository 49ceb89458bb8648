import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { AGENT, COMMAND, cgroupsOf, findings, gone, inLab, isAlive, type Lab, readOr, unable, until } from './lab.ts'
import { onTerminal } from './terminal.ts'

const isRoot = process.getuid?.() === 0
const runsOf = (lab: Lab): string[] => readdirSync(join(lab.home, 'runs'))
type Litter = { kind: string; what: string; why: string; keep: boolean }
const prune = async (lab: Lab, ...more: string[]): Promise<Litter[]> => JSON.parse(await lab.ok(['prune', '--json', ...more])) as Litter[]

verifies(
  'stop-proof',
  'prune removes what the dead left, says what and why first, keeps what the living and the last run need, and then has nothing to do',
  () =>
    inLab(async (lab) => {
      for (const code of [1, 2]) await lab.hf(lab.detached('s', 'sh', '-c', `echo ${code}; exit ${code}`))
      await until('its end', async () => (await lab.status('s')).state === 'failed')
      await lab.ok(['run', '--session', 'live', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1000'])
      await until('the keepers to leave', () => !runsOf(lab).some((run) => existsSync(join(lab.home, 'runs', run, 'ear'))))
      const { run } = (await lab.status('s')) as unknown as { run: string }
      const [older = ''] = runsOf(lab).filter((id) => readOr(join(lab.home, 'runs', id, 'log')) === '1\n')
      // What a crash may leave: a directory that no run on record has.
      const stray = join(lab.home, 'runs', 'r0123456789ab')
      mkdirSync(stray)
      const planned = await prune(lab, '--dry-run')
      expect(planned.map(({ what, keep }) => [what, keep]).toSorted()).toEqual(
        [
          [join(lab.home, 'runs', older), false],
          [stray, false],
        ].toSorted(),
      )
      expect(runsOf(lab)).toHaveLength(4)
      expect(await prune(lab)).toEqual(planned)
      expect(await prune(lab)).toEqual([])
      expect(await lab.ok(['prune'])).toBe('nothing to remove\n')
      expect(runsOf(lab)).toContain(run)
      expect(await lab.ok(['logs', 's'])).toBe('2\n')
      expect(await lab.status('live')).toMatchObject({ state: 'running' })
    }),
)

test('prune removes what daemons left half written, and not what one may be writing', () =>
  inLab(async (lab) => {
    await lab.ok(['ls'])
    const folder = join(lab.home, 'daemon')
    mkdirSync(folder)
    // No process has a number beyond the highest that there is.
    const dead = Number(readOr('/proc/sys/kernel/pid_max')) + 1
    for (const name of [`notified.${dead}`, `notified.${process.pid}`, 'token', 'mine.1']) writeFileSync(join(folder, name), '')
    mkdirSync(join(folder, 'sock.aside-1', 'inner'), { recursive: true })
    const found = await prune(lab)
    expect(found.map(({ what }) => what).toSorted()).toEqual([join(folder, `notified.${dead}`), join(folder, 'sock.aside-1')])
    expect(readdirSync(folder).toSorted()).toEqual(['mine.1', `notified.${process.pid}`, 'token'])
    expect(await prune(lab)).toEqual([])
  }))

verifies('unknown', 'prune keeps a directory while somebody carries its secret, and one that cannot be judged', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const lineage = /HOLDFAST_LINEAGE=([^\0]*)/.exec(readOr(`/proc/${await lab.pid('main')}/environ`))?.[1] ?? ''
    const copy = spawn('sleep', ['1000'], { stdio: 'ignore', env: { PATH: process.env['PATH'], HOLDFAST_LINEAGE: lineage } })
    await lab.ok(['stop', 's'])
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--', 'true'])
    const [first] = runsOf(lab).map((run) => join(lab.home, 'runs', run))
    // A run of another machine, whose record was lost: nothing can be said of it.
    const foreign = join(lab.home, 'runs', 'rffffffffffff')
    mkdirSync(foreign)
    const record = JSON.parse(readOr(join(first ?? '', 'run.json'))) as { place: object }
    writeFileSync(
      join(foreign, 'run.json'),
      JSON.stringify({ ...record, id: 'rffffffffffff', place: { ...record.place, boot: 'other', machine: 'other' } }),
    )
    const newer = join(lab.home, 'runs', 'reeeeeeeeeeee')
    mkdirSync(newer)
    writeFileSync(join(newer, 'run.json'), JSON.stringify({ format: 2 }))
    const found = await prune(lab)
    expect(found.map(({ keep, why }) => [keep, why])).toEqual(
      expect.arrayContaining([
        [true, `pid ${copy.pid} still has the secret of this run`],
        [true, 'no run on record has it, but its record cannot be read: nothing tells whether it is over'],
      ]) as unknown[],
    )
    expect(existsSync(foreign)).toBe(true)
    // What a directory tells is on record again, as unknown.
    expect(JSON.parse(await lab.ok(['ls', '--json']))).toMatchObject([{ session: 's.before-1', run: 'rffffffffffff', liveness: 'unknown' }])
    copy.kill('SIGKILL')
    await gone(copy.pid ?? 0)
    expect((await prune(lab)).filter(({ keep }) => !keep)).toHaveLength(1)
  }),
)

verifies('one-owner', 'prune beside many starts takes nothing from any of them', () =>
  inLab(async (lab) => {
    const dirs = Array.from({ length: 6 }, () => lab.newDir())
    let over = false
    const pruning = (async () => {
      while (!over) await lab.ok(['prune'])
    })()
    for (let round = 0; round < 3; round++)
      for (const result of await Promise.all(
        dirs.map((dir, index) =>
          lab.hf(['run', '--session', `s${index}`, '--dir', dir, '--detach', '--takeover', '--grace', '1s', '--', 'sleep', '1000']),
        ),
      ))
        expect(result.code, result.stderr).toBe(0)
    over = true
    await pruning
    for (const index of dirs.keys())
      expect(JSON.parse(await lab.ok(['status', `s${index}`, '--json']))).toMatchObject({
        state: 'running',
        epoch: 3,
        ...(isRoot ? { containment: { entered: true } } : {}),
      })
  }),
)

verifies('unknown', 'a run whose pid namespace is gone is over, by that proof; a person may testify only for what is unknown', () =>
  inLab(async (lab) => {
    if (!isRoot) return unable('only the initial pid namespace sees all, and only root may make another')
    if (!readOr('/proc/self/status').includes('NSpid:') || readlinkSync('/proc/self/ns/pid') !== 'pid:[4026531836]')
      return unable('this is not the initial pid namespace')
    const inside = (session: string, hold: string, before = '') =>
      spawn(
        'unshare',
        [
          '-pf',
          '--mount-proc',
          '--kill-child',
          'sh',
          '-c',
          `${before} bin/holdfast run --session ${session} --dir "$0" --detach -- sleep 1000; ${hold}`,
          lab.newDir(),
        ],
        { env: lab.env, stdio: 'ignore' },
      )
    const first = inside('gone', 'exit')
    await new Promise((done) => first.once('exit', done))
    expect(await lab.status('gone')).toMatchObject({
      state: 'lost',
      evidence: expect.arrayContaining([expect.stringMatching(/keeper gone: its pid namespace \(pid:\[\d+\]\) no longer exists/)]) as string[],
    })
    const second = inside('there', 'sleep 1000')
    await until('it', async () => (await lab.hf(['status', 'there', '--json'])).code === 0)
    await until('its agent', async () => (await lab.status('there')).pid !== null)
    const seen = await lab.hf(['status', 'there', '--verbose'])
    expect(seen.stdout).toMatch(
      /liveness +unknown\n(.*\n)* {2}note +it lives in another pid namespace \(pid:\[\d+\]\)\n {2}next +.*holdfast resolve there --gone/,
    )
    expect((await lab.ok(['tree', 'there'])).trim()).toMatch(/^there cannot be looked at from here: it lives in another pid namespace/)
    // Its cgroup shows that it is not gone, whatever anybody says.
    const wrong = await lab.hf(['resolve', 'there', '--gone'])
    expect([wrong.code, wrong.stderr]).toEqual([75, expect.stringContaining('somebody is in its cgroup')])
    second.kill('SIGKILL')
    await until('its end', async () => (await lab.status('there')).state === 'lost')
    // Nor without a cgroup: its marker is seen from here.
    const third = inside('marked', 'sleep 1000', 'mount -t tmpfs none /sys/fs/cgroup;')
    await until('it', async () => (await lab.hf(['status', 'marked', '--json'])).code === 0 && (await lab.status('marked')).pid !== null)
    const also = await lab.hf(['resolve', 'marked', '--gone'])
    expect([also.code, also.stderr]).toEqual([75, expect.stringMatching(/its marker is carried by pid \d+/)])
    third.kill('SIGKILL')
    await until('its end', async () => (await lab.status('marked')).state === 'lost')
  }),
)

verifies('identity', 'where /proc shows another pid namespace, nothing is started, judged or signalled', () =>
  inLab(async (lab) => {
    if (!isRoot) return unable('a pid namespace needs root')
    await lab.ok(lab.detached('s', 'sleep', '1000'))
    const { pid } = await lab.status('s')
    // In there the very number of the agent belongs to somebody else.
    const script = `echo ${pid - 1} >/proc/sys/kernel/ns_last_pid; sleep 1001 & echo "stranger $!"; set +e
      bin/holdfast run --session t --dir ${lab.newDir()} --detach -- true; echo "run $?"; bin/holdfast stop s; echo "stop $?"
      bin/holdfast run --session s --dir ${lab.dir} --detach --force -- true; echo "force $?"; kill -0 $! && echo alive`
    const { stdout } = spawnSync('unshare', ['-pf', '--kill-child', 'bash', '-c', script], { env: lab.env, encoding: 'utf8' })
    expect(stdout).toMatch(new RegExp(`^stranger ${pid}\\nrun 69\\n(.*\\n)*stop 76\\nforce 69\\nalive\\n`))
    expect(await lab.status('s')).toMatchObject({ state: 'running', pid })
  }),
)

verifies('unknown', 'testimony ends what nobody can prove, with who said so; it does not reach what is alive, over or nobody', () =>
  inLab(async (lab) => {
    const said = async (args: string[]): Promise<[number | null, string]> => {
      const { code, stderr } = await lab.hf(['resolve', ...args])
      return [code, stderr]
    }
    await lab.ok(lab.detached('s', 'sleep', '1000'))
    const { pid, keeper, run } = (await lab.status('s')) as unknown as { pid: number; keeper: number; run: string }
    expect(await said(['s'])).toEqual([64, expect.stringContaining('needs your word: --gone')])
    expect(await said(['s', '--gone'])).toEqual([75, expect.stringContaining('its agent, or its tree, is alive')])
    expect(await said(['nobody', '--gone'])).toEqual([66, expect.stringContaining('no such session')])
    await lab.ok(['stop', 's'])
    expect(await said(['s', '--gone'])).toEqual([66, expect.stringContaining('is not running')])
    expect([pid, keeper].map(isAlive)).toEqual([false, false])
    // A record from another machine, as a home that was copied has it.
    const path = join(lab.home, 'runs', run, 'run.json')
    const record = JSON.parse(readOr(path)) as { place: object }
    for (const file of readdirSync(lab.home).filter((name) => name.startsWith('holdfast.db'))) spawnSync('rm', [join(lab.home, file)])
    writeFileSync(path, JSON.stringify({ ...record, place: { ...record.place, boot: 'other', machine: 'other' } }))
    expect(await lab.status('s')).toMatchObject({ liveness: 'unknown', note: 'it was started on another machine' })
    expect((await lab.hf(['stop', 's'])).code).toBe(76)
    const { code, stdout } = await lab.hf(['doctor'])
    expect([code, stdout]).toEqual([
      76,
      expect.stringMatching(/trouble s: unknown: it was started on another machine\n +look from where it runs; .*holdfast resolve s --gone/),
    ])
    await lab.ok(['resolve', 's', '--gone'])
    expect(await lab.status('s')).toMatchObject({
      state: 'lost',
      reason: expect.stringMatching(/said that it is gone; that could not be proven \(it was started on another machine\)/) as string,
      evidence: expect.arrayContaining([expect.stringMatching(/^testimony of .*resolve --gone/)]) as string[],
    })
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--', 'true'])
  }),
)

verifies('innocent', 'suspects are listed with what speaks for and against, and ended only by name, one by one, looked at again', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const member = await lab.pid('main')
    // Each in a group of its own: what is in the group of the command is its own pipeline.
    const here = spawn('sh', ['-c', 'sleep 1000 & echo $! >child; wait'], { cwd: lab.dir, stdio: 'ignore', detached: true })
    const child = Number(await until('its child', () => readOr(join(lab.dir, 'child')).trim() || null))
    const there = spawn('sleep', ['1000'], { cwd: lab.newDir(), stdio: 'ignore', detached: true })
    const { suspects } = JSON.parse(await lab.ok(['tree', 's', '--suspects', '--json'])) as {
      suspects: { pid: number; pro: string[]; contra: string[] }[]
    }
    expect(suspects.find(({ pid }) => pid === here.pid)).toMatchObject({
      pro: [`works in ${lab.dir}`],
      contra: ['does not have its marker', expect.stringMatching(/was started by .* \(pid \d+\), which is not of it/)],
    })
    expect(suspects.map(({ pid }) => pid).toSorted()).toEqual([here.pid, child].toSorted())
    expect((await lab.hf(['doctor', '--verbose'])).stdout).not.toMatch(/suspect:|--suspect /)
    const refused = async (args: string[], code: number): Promise<void> =>
      expect([args, (await lab.hf(['stop', '--suspect', ...args])).code]).toEqual([args, code])
    for (const pid of ['0', '1', '-1', 'x', '4194305', '']) await refused([pid], 64)
    for (const pid of [member, there.pid, process.pid, 999_999]) await refused([String(pid)], 66)
    await refused([], 64)
    await refused([String(here.pid), String(there.pid)], 66)
    expect([here.pid, there.pid, child, member].map((pid) => isAlive(pid ?? 0))).toEqual([true, true, true, true])
    expect(await lab.ok(['stop', '--suspect', String(here.pid)])).toBe(`sh (pid ${here.pid}), a suspect of s: ended, seen gone\n`)
    await gone(here.pid ?? 0)
    expect([there.pid, child, member].map((pid) => isAlive(pid ?? 0))).toEqual([true, true, true])
    // Also of a session that is over: it may have been left behind.
    await lab.ok(['stop', 's'])
    expect(isAlive(child)).toBe(true)
    await lab.ok(['stop', '--suspect', String(child), '--grace', '1s'])
    expect(isAlive(child)).toBe(false)
    there.kill('SIGKILL')
  }),
)

verifies(
  'innocent',
  'a person at work beside a session is no suspect of it: neither the shell, nor tmux, nor the pipeline; doctor names no suspects',
  () =>
    inLab(async (lab) => {
      await lab.ok(lab.detached('live', AGENT, 'idle'))
      for (const code of [0, 1]) await lab.hf(['run', '--session', `over${code}`, '--dir', lab.newDir(), '--', 'sh', '-c', `exit ${code}`])
      const left = spawn('sleep', ['1000'], { cwd: lab.dir, stdio: 'ignore', detached: true })
      const told = join(lab.newDir(), 'told')
      // A shell on a terminal of tmux, whose server works in the directory of the session, too.
      await onTerminal(lab, ['bash', '--norc'], async (terminal) => {
        terminal.type([`${COMMAND} tree live --suspects --json | head -c 100000 | tee ${told}; echo $$ >>${told}; echo DO''NE`, 'Enter'])
        await terminal.sees(/^DONE/m)
        const [json = '', shell = ''] = readOr(told).trim().split('\n')
        const { suspects } = JSON.parse(json) as { suspects: { pid: number; name: string }[] }
        expect(readlinkSync(`/proc/${shell.trim()}/cwd`)).toBe(lab.dir)
        expect(suspects.map(({ pid, name }) => [pid, name])).toEqual([[left.pid, 'sleep']])
        const { code, stdout } = await lab.hf(['doctor'])
        expect([code, stdout.trimEnd().split('\n').length <= 10], stdout).toEqual([0, true])
        expect(stdout).not.toMatch(/suspect/)
      })
      left.kill('SIGKILL')
    }),
)

test('doctor says what holds runs together here, and with --fix does what needs nobody to decide', () =>
  inLab(async (lab) => {
    const found = await findings(lab, { env: { HOME: lab.newDir() } })
    expect(found.map(({ topic }) => topic)).toEqual(['agents', 'config', 'containment', 'marker', 'sight', 'daemon', 'tmux', 'notifications'])
    expect(found.every(({ level, topic }) => level === 'fine' || topic === 'agents') || !isRoot).toBe(true)
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--', 'true'])
    await lab.ok(lab.detached('s', 'sh', '-c', 'sleep 1000 & exec sleep 1001'))
    const { pid, keeper } = await lab.unguarded('s')
    for (const victim of [keeper, pid]) process.kill(victim, 'SIGKILL')
    await gone(pid)
    expect(await lab.hf(['doctor'])).toMatchObject({
      code: 76,
      stdout: expect.stringMatching(/trouble s: its agent is over, 1 of what it started live on\n +holdfast reconcile ends them/) as string,
    })
    expect((await lab.hf(['doctor', '--fix'])).stdout).toMatch(/^s: (running|stopping) → (lost|failed) .*\nremoved .*\n(.*\n)*fine +config/)
    expect(cgroupsOf(readOr(join(lab.home, 'install')).trim())).toEqual([])
    expect(await lab.ok(['prune'])).toBe('nothing to remove\n')
    for (const verb of ['doctor', 'prune', 'reconcile']) expect((await lab.hf([verb, 'x'])).code).toBe(64)
  }))

test('without a cgroup doctor says so, and what would help', () =>
  inLab(async (lab) => {
    if (!isRoot) return unable('hiding the cgroups needs root')
    const { stdout } = spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs none /sys/fs/cgroup; exec bin/holdfast doctor'], {
      env: lab.env,
      encoding: 'utf8',
    })
    expect(stdout).toMatch(
      /^note +containment: marker, cookie, ancestry, sessions and journal \(no cgroup: no cgroup v2 file system is mounted here\)\n +a writable cgroup/m,
    )
  }))
