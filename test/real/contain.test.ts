import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { AGENT, COMMAND, cgroupsOf, findings, gone, inLab, isAlive, type Lab, readOr, TEST_COMMAND, unable, until } from './lab.ts'
import { becomingRoot } from './users.ts'

const isRoot = process.getuid?.() === 0
const hasCgroups = isRoot && (existsSync('/sys/fs/cgroup/unified/cgroup.procs') || existsSync('/sys/fs/cgroup/cgroup.procs'))
const install = (lab: Lab): string => readOr(join(lab.home, 'install')).trim()
const cgroupOf = async (lab: Lab, session: string): Promise<string> => {
  const { containment } = JSON.parse(await lab.ok(['status', session, '--json'])) as {
    containment: { level: string; path: string; entered: boolean }
  }
  expect(containment).toMatchObject({ level: 'cgroup', entered: true })
  return containment.path
}
const inCgroup = (pid: number): string => /^0::(.*)$/m.exec(readOr(`/proc/${pid}/cgroup`))?.[1] ?? ''

/** A scenario with a cgroup; loudly not without. */
const contained = (body: (lab: Lab) => Promise<void>) => () => (hasCgroups ? inLab(body) : unable('no cgroup v2 that we may write'))

verifies(
  'stop-proof',
  'an agent is in a cgroup that carries the install and its run, its keeper is not, and the end removes it',
  contained(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'tree'))
    const path = await cgroupOf(lab, 's')
    const scrubbed = await lab.pid('scrubbed')
    const { keeper, pid } = await lab.status('s')
    expect(path).toContain(install(lab).replaceAll('-', '').slice(0, 12))
    for (const member of [pid, scrubbed]) expect(path.endsWith(inCgroup(member))).toBe(true)
    expect(inCgroup(keeper)).toBe(inCgroup(process.pid))
    expect(await lab.ok(['status', 's', '--verbose'])).toMatch(/\n {2}containment +cgroup \//)
    expect(await lab.ok(['tree', 's'])).toMatch(new RegExp(`\\n${scrubbed} +S +cgroup `))
    await lab.ok(['stop', 's'])
    expect(cgroupsOf(install(lab))).toEqual([])
  }),
)

verifies(
  'stop-proof',
  'in the foreground too, and an agent that ends by itself leaves no cgroup',
  contained(async (lab) => {
    const script = 'grep ^0:: /proc/self/cgroup; grep ^0:: /proc/$PPID/cgroup'
    const [agent, keeper] = (await lab.ok(['run', '--session', 's', '--', 'sh', '-c', script])).trim().split('\n')
    expect(agent).toContain('/holdfast-')
    expect(keeper).not.toContain('/holdfast-')
    await until('an empty place', () => cgroupsOf(install(lab)).length === 0)
  }),
)

verifies(
  'stop-proof',
  'a run started inside has a sibling cgroup: the end of the outer one does not hit an independent one, keeper included',
  contained(async (lab) => {
    const inner = `${COMMAND} run --session inner --dir ${lab.newDir()} --independent --detach -- sleep 1000; ${COMMAND} run --session child --dir ${lab.newDir()} --detach -- sleep 1001; exec sleep 1002`
    await lab.ok(lab.detached('outer', 'sh', '-c', inner))
    const { pid: child } = await until('the child', async () =>
      (await lab.hf(['status', 'child', '--json'])).code === 0 ? lab.status('child') : null,
    )
    const { pid, keeper } = await lab.status('inner')
    const [outerPath, innerPath] = [await cgroupOf(lab, 'outer'), await cgroupOf(lab, 'inner')]
    expect(dirname(innerPath)).toBe(dirname(outerPath))
    expect(inCgroup(keeper)).toBe(inCgroup(process.pid))
    await lab.ok(['stop', 'outer', '--grace', '1s'])
    expect([pid, keeper, child].map(isAlive)).toEqual([true, true, false])
    expect(await lab.status('inner')).toMatchObject({ state: 'running' })
    await lab.ok(['stop', 'inner'])
    expect(await lab.status('inner')).toMatchObject({ state: 'stopped', exit: { signal: 'SIGTERM' } })
    expect(cgroupsOf(install(lab))).toEqual([])
  }),
)

verifies(
  'stop-proof',
  'who is left in the cgroup and cannot be signalled dies with it; without one it is named, and the code is 79',
  contained(async (lab) => {
    const share = (path: string): void => void spawnSync('chown', ['-R', '65534:65534', path])
    const place = dirname(await cgroupPlace(lab))
    const delegated = join(place, `hf-lab-${process.pid}`)
    mkdirSync(delegated)
    for (const file of ['', 'cgroup.procs', 'cgroup.subtree_control']) spawnSync('chown', ['65534:65534', join(delegated, file)])
    spawnSync('chmod', ['711', dirname(lab.home)])
    const nobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', COMMAND]
    const as = (before: readonly string[], args: readonly string[]) => {
      const [program = '', ...argv] = [...before, ...nobody, ...args]
      return spawnSync(program, argv, { env: { ...lab.env, HOLDFAST_HOME: join(lab.dir, 'home') }, cwd: lab.dir, encoding: 'utf8' })
    }
    share(lab.dir)
    const foreigners: ChildProcess[] = []
    // Born from the agent, of another user that it took as a whole, as sudo does.
    const asRoot = becomingRoot(lab)
    const enter = ['sh', '-c', `echo 0 >${delegated}/cgroup.procs; exec "$@"`, 'sh']
    try {
      for (const [session, before] of [
        ['in', enter],
        ['out', []],
      ] as const) {
        const born = session === 'out' ? `${asRoot} --reuid 0 --regid 0 --clear-groups sleep 1002 & ` : ''
        expect(as(before, lab.detached(session, 'sh', '-c', `${born}exec sleep 1000`))).toMatchObject({ status: 0 })
        const { pid, containment } = JSON.parse(as([], ['status', session, '--json']).stdout) as {
          pid: number
          containment: { level: string; path: string }
        }
        expect(containment.level).toBe(session === 'in' ? 'cgroup' : 'none')
        // Its marker, and its cgroup where there is one, are given by root: the session did not start it.
        const marker = /Max realtime timeout\s+(\d+)/.exec(readOr(`/proc/${pid}/limits`))?.[1] ?? ''
        const admit = session === 'in' ? `echo 0 >${containment.path}/cgroup.procs;` : ''
        const foreign = spawn('sh', ['-c', `${admit} exec prlimit --rttime=${marker}: sleep 1000`], { stdio: 'ignore' })
        foreigners.push(foreign)
        await until('the marker', () => readOr(`/proc/${foreign.pid}/limits`).includes(marker))
        const stopped = as([], ['stop', session, '--grace', '300ms'])
        if (session === 'in') {
          expect(stopped).toMatchObject({ status: 0 })
          await gone(foreign.pid ?? 0)
        } else {
          expect(stopped.status).toBe(79)
          expect(stopped.stdout).toMatch(/pid \d+ \(sleep\): it belongs to another user \(uid 0\) and may not be signalled/)
          expect(stopped.stdout).not.toContain(`${foreign.pid}`)
          expect(isAlive(foreign.pid ?? 0)).toBe(true)
          const status = as([], ['status', session, '--json'])
          const { state, survivors } = JSON.parse(status.stdout) as { state: string; survivors: { pid: number }[] }
          expect([state, survivors.length]).toEqual(['stopping', 1])
          process.kill(survivors[0]?.pid ?? Number.NaN, 'SIGKILL')
          await gone(survivors[0]?.pid ?? 0)
          expect(as([], ['stop', session])).toMatchObject({
            status: 0,
            stdout: expect.stringContaining(
              `may be left: sleep (pid ${foreign.pid}) carries its marker, but belongs to another user (uid 0)`,
            ) as string,
          })
        }
      }
    } finally {
      for (const foreign of foreigners) foreign.kill('SIGKILL')
      as([], ['stop', '--all', '--grace', '1s'])
      spawnSync('chown', ['-R', '0:0', lab.dir])
      await until('an empty place', () => spawnSync('rmdir', [delegated]).status === 0)
    }
  }),
)

verifies(
  'stop-proof',
  'a stopper that cannot leave the cgroup of the session it was called from ends it all the same, alone',
  contained(async (lab) => {
    const delegated = join(dirname(await cgroupPlace(lab)), `hf-self-${process.pid}`)
    mkdirSync(delegated)
    for (const file of ['', 'cgroup.procs', 'cgroup.subtree_control']) spawnSync('chown', ['65534:65534', join(delegated, file)])
    spawnSync('chmod', ['711', dirname(lab.home)])
    const home = join(lab.dir, 'home')
    spawnSync('chown', ['65534:65534', lab.dir])
    const nobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', COMMAND]
    const env = { ...lab.env, HOLDFAST_HOME: home, FA_DIR: lab.dir }
    const agent = `while [ ! -e go ]; do sleep 0.05; done; ${COMMAND} stop s --grace 1s; sleep 1000`
    const start = ['-c', `echo 0 >${delegated}/cgroup.procs; exec "$@"`, 'sh', ...nobody, ...lab.detached('s', 'sh', '-c', agent)]
    try {
      expect(spawnSync('sh', start, { env, cwd: lab.dir, encoding: 'utf8' })).toMatchObject({ status: 0 })
      const status = (): { state: string; pid: number; containment: object } =>
        JSON.parse(spawnSync(nobody[0] ?? '', [...nobody.slice(1), 'status', 's', '--json'], { env, encoding: 'utf8' }).stdout) as never
      expect(status().containment).toMatchObject({ level: 'cgroup', entered: true })
      const { pid } = status()
      // From here on nobody may leave.
      spawnSync('chown', ['0:0', join(delegated, 'cgroup.procs')])
      writeFileSync(join(lab.dir, 'go'), '')
      await gone(pid)
      await until('its end', () => status().state === 'stopped')
      const stoppers = (): string[] =>
        readdirSync('/proc').filter(
          (entry) => /^\d+$/.test(entry) && readOr(`/proc/${entry}/cmdline`).includes('--outside') && readOr(`/proc/${entry}/environ`).includes(home),
        )
      await until('no stopper', () => stoppers().length === 0)
    } finally {
      spawnSync('chown', ['-R', '0:0', lab.dir])
      await until('an empty place', () => {
        for (const name of readdirSync(delegated).filter((entry) => entry.startsWith('holdfast-'))) spawnSync('rmdir', [join(delegated, name)])
        return spawnSync('rmdir', [delegated]).status === 0
      })
    }
  }),
)

/** Where root's cgroups are made: told by a run that does nothing else. */
async function cgroupPlace(lab: Lab): Promise<string> {
  await lab.ok(['run', '--session', 'probe', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1000'])
  const path = await cgroupOf(lab, 'probe')
  await lab.ok(['stop', 'probe'])
  return path
}

verifies(
  'stop-proof',
  'an agent that makes cgroups of its own, freezes itself or moves a child out is ended all the same',
  contained(async (lab) => {
    const script = [
      'g=$(sed -n "s/^0:://p" /proc/self/cgroup)',
      'for place in /sys/fs/cgroup/unified /sys/fs/cgroup; do [ -e "$place$g/cgroup.procs" ] && break; done',
      'mkdir "$place$g/inner"',
      'sh -c "echo 0 >$place$g/inner/cgroup.procs; echo \\$\\$ >$FA_DIR/inner.pid; exec setsid sleep 1000" &',
      'sh -c "echo 0 >$place/cgroup.procs; echo \\$\\$ >$FA_DIR/moved.pid; exec setsid sleep 1001" &',
      'while [ ! -s "$FA_DIR/inner.pid" ] || [ ! -s "$FA_DIR/moved.pid" ]; do sleep 0.02; done',
      'echo $$ >"$FA_DIR/main.pid"; sleep 0.2; echo 1 >"$place$g/cgroup.freeze"; exec sleep 1002',
    ].join('\n')
    await lab.ok(lab.detached('s', 'sh', '-c', script))
    const path = await cgroupOf(lab, 's')
    const pids = [await lab.pid('main'), await lab.pid('inner'), await lab.pid('moved')]
    await until('the frost', () => readOr(join(path, 'cgroup.events')).includes('frozen 1'))
    expect(await lab.status('s')).toMatchObject({ state: 'running', liveness: 'alive' })
    await lab.ok(['stop', 's', '--grace', '5s'])
    expect(pids.filter(isAlive)).toEqual([])
    expect(cgroupsOf(install(lab))).toEqual([])
  }),
)

verifies(
  'stop-proof',
  'a cgroup that a crash left is swept by the next reconcile, and never a reason to fail a launch',
  contained(async (lab) => {
    await lab.ok(lab.detached('s', 'sleep', '1000'))
    const path = await cgroupOf(lab, 's')
    const { pid, keeper } = await lab.unguarded('s')
    for (const victim of [keeper, pid]) process.kill(victim, 'SIGKILL')
    await gone(pid)
    // Its zombie may have told how it ended.
    expect((await lab.status('s')).state).toMatch(/^(lost|failed)$/)
    expect(existsSync(path)).toBe(true)
    await lab.ok(lab.detached('s', 'sleep', '1000'))
    expect(await cgroupOf(lab, 's')).not.toBe(path)
    await lab.ok(['reconcile'])
    expect(existsSync(path)).toBe(false)
  }),
)

test(
  'an agent that could not get into its cgroup is contained by its other proofs, and status says so',
  contained(async (lab) => {
    // Between the claim and the launch somebody takes the cgroup away: the launcher is held there.
    const started = lab.start(lab.detached('s', AGENT, 'tree'), {
      command: TEST_COMMAND,
      env: { HOLDFAST_FAILPOINTS: 'after:containers.make=delay:3000' },
    })
    const [path = ''] = await until('a cgroup', () => (cgroupsOf(install(lab)).length > 0 ? cgroupsOf(install(lab)) : null))
    rmdirSync(path)
    await new Promise((done) => started.once('exit', done))
    const scrubbed = await lab.pid('scrubbed')
    expect(await lab.ok(['status', 's', '--verbose'])).toMatch(/containment +marker, cookie, .* \(its agent did not get into its cgroup /)
    const found = await findings(lab)
    expect(found.filter(({ topic }) => topic === 's').map(({ what }) => what)).toContainEqual(
      expect.stringContaining('its agent is not in its cgroup'),
    )
    expect(found.filter(({ level }) => level === 'trouble')).toEqual([])
    await lab.ok(['stop', 's'])
    expect(isAlive(scrubbed)).toBe(false)
  }),
)

verifies('innocent', 'with a cgroup too no signal goes to a group, to everybody, to init or an ancestor, and no killer program runs', () =>
  inLab(async (lab) => {
    if (!hasCgroups) return unable('no cgroup v2 that we may write')
    await lab.ok(lab.detached('s', AGENT, 'stubborn'))
    await lab.pid('main')
    const trace = join(lab.dir, 'trace')
    const calls = 'trace=kill,tkill,tgkill,execve,pidfd_send_signal,openat'
    const traced = spawnSync('strace', ['-f', '-o', trace, '-e', calls, COMMAND, 'stop', 's', '--grace', '200ms'], { env: lab.env, encoding: 'utf8' })
    expect(traced.status, traced.stderr).toBe(0)
    const lines = readOr(trace).split('\n')
    expect(lines.some((line) => line.includes('cgroup.kill'))).toBe(true)
    const own = new Set([process.pid, process.ppid, 0, 1, -1])
    const targets = lines.flatMap((line) => /\bkill\((-?\d+), (\w+)/.exec(line)?.slice(1) ?? [])
    const pids = targets.filter((_, index) => index % 2 === 0).map(Number)
    expect(pids.length).toBeGreaterThan(1)
    // Signal 0 only asks; it goes to nobody either.
    expect(pids.filter((pid) => pid <= 1 || own.has(pid))).toEqual([])
    expect(lines.filter((line) => /execve\("[^"]*\/(?:kill|pkill|killall|ps|lsof|fuser)"/.test(line))).toEqual([])
  }),
)

verifies('stop-proof', 'a member that lost every proof is known from the journal, which a reconcile wrote', () =>
  inLab(async (lab) => {
    // Neither cgroup nor marker: parent, session and environment are all that is left, and all of them go.
    const script = `prlimit --pid $$ --rttime=1000000000000:1000000000000; mount -t tmpfs none /sys/fs/cgroup; exec ${COMMAND} run --session s --dir ${lab.dir} --detach -- sh -c 'env -i setsid sh -c "echo \\$\\$ >${lab.agentDir}/orphan.pid; exec sleep 1000" & sleep 1001 & wait'`
    if (!isRoot) return unable('hiding the cgroups needs root')
    const started = spawnSync('unshare', ['-m', 'sh', '-c', script], { env: lab.env, encoding: 'utf8' })
    expect(started.status, started.stderr).toBe(0)
    const orphan = await lab.pid('orphan')
    expect(JSON.parse(await lab.ok(['status', 's', '--json']))).toMatchObject({ containment: { level: 'none' } })
    expect(await lab.ok(['tree', 's'])).toMatch(new RegExp(`\\n${orphan} +S +descendant `))
    await lab.ok(['reconcile'])
    const { pid } = await lab.status('s')
    expect(readdirSync(join(lab.home, 'runs')).map((run) => readOr(join(lab.home, 'runs', run, 'members')))).toEqual([
      expect.stringContaining(`${orphan} `),
    ])
    process.kill(pid, 'SIGKILL')
    await gone(orphan)
    expect(await until('its end', async () => ((await lab.status('s')).state === 'failed' ? lab.status('s') : null))).toMatchObject({
      evidence: expect.arrayContaining([`ended with it: sleep (pid ${orphan})`]) as string[],
    })
  }),
)
