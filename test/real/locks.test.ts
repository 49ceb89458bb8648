import { spawnSync } from 'node:child_process'
import { mkdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadSqlite } from '../../src/record/driver.ts'
import { verifies } from '../requirements.ts'
import { AGENT, COMMAND, gone, inLab, inNamespace, isAlive, type Lab, readOr, unable, until } from './lab.ts'
import { program } from './strangers.ts'

type Check = {
  state: string
  own: boolean
  why: string
  relation: string | null
  worksIn: string | null
  holder: { pid: number; session: string } | null
}
const check = async (lab: Lab, dir = lab.dir): Promise<Check & { code: number | null }> => {
  const { code, stdout, stderr } = await lab.hf(['lock', '--check', dir, '--json'])
  expect(stdout, stderr).not.toBe('')
  return { code, ...(JSON.parse(stdout) as Check) }
}
const beside = (lab: Lab, dir: string, ...more: string[]) =>
  lab.hf(['run', '--session', 'other', '--dir', dir, '--detach', ...more, '--', 'sleep', '1000'])

/** Forces the row of a session's run to be over, long ago, while its tree lives. */
function forget(lab: Lab, session: string): void {
  const db = new (loadSqlite().DatabaseSync)(join(lab.home, 'holdfast.db'))
  db.exec(
    `UPDATE run SET state = 'lost', ended_at = 1, reason = 'forced', evidence = '[]', ended_by = 'a test' WHERE session = '${session}' AND ended_at IS NULL`,
  )
  db.close()
}

verifies('lock-life', 'of 20 launches at once, of 20 sessions by several names of one directory, one wins and 19 are refused by its name', () =>
  inLab(async (lab) => {
    const sub = join(lab.dir, 'sub')
    mkdirSync(sub)
    symlinkSync(lab.dir, `${lab.dir}-link`)
    const names = [lab.dir, `${lab.dir}-link`, sub, `${lab.dir}/.`]
    const starts = Array.from({ length: 20 }, (_, index) => ['run', '--session', `s${index}`, '--dir', names[index % 4] ?? '', '--detach'])
    const results = await Promise.all(starts.map((args) => lab.hf([...args, '--', 'sleep', '1000'])))
    const winner = results.findIndex(({ code }) => code === 0)
    // Two that are beside each other cannot win: there is but one place, and one above it.
    expect(results.filter(({ code }) => code === 0)).toHaveLength(1)
    const lost = results.filter((_, index) => index !== winner)
    expect(lost.map(({ code }) => code)).toEqual(lost.map(() => 75))
    for (const { stderr } of lost) expect(stderr).toMatch(new RegExp(`is .*held by pid \\d+ \\(session s${winner}, .*--share`, 's'))
    expect(JSON.parse(await lab.ok(['locks', '--json']))).toHaveLength(1)
  }),
)

verifies('lock-life', 'held by any process of the tree, whatever keeper and wrapper died, and free at the first look after the last', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--detach', '--until', 'tree', '--', AGENT, 'tree'])
    const pids = await Promise.all(['plain', 'setsid', 'scrubbed'].map((name) => lab.pid(name)))
    const { keeper, pid } = await lab.status('s')
    expect(await check(lab)).toMatchObject({ code: 75, state: 'held', own: false, relation: 'same', holder: { session: 's', pid } })
    process.kill(keeper, 'SIGKILL')
    process.kill(pid, 'SIGSTOP')
    expect((await check(lab)).code).toBe(75)
    process.kill(pid, 'SIGKILL')
    await gone(pid)
    for (const member of pids) {
      const { code, why } = await check(lab)
      expect([code, why]).toEqual([75, expect.stringContaining('of its tree live on')])
      const refused = await beside(lab, lab.dir)
      expect([refused.code, refused.stderr]).toEqual([75, expect.stringContaining('session s')])
      expect(isAlive(member), 'a refused start ends nobody').toBe(true)
      process.kill(member, 'SIGKILL')
      await gone(member)
    }
    expect(await check(lab)).toMatchObject({ code: 0, state: 'free', holder: null })
    expect((await beside(lab, lab.dir)).code).toBe(0)
  }),
)

verifies(
  'lock-life',
  'what an agent left when it and its keeper were killed is not ended because of a directory: that is for stop and reconcile',
  () =>
    inLab(async (lab) => {
      await lab.ok(lab.detached('s', AGENT, 'tree'))
      const left = await lab.pid('setsid')
      const { keeper, pid } = await lab.unguarded('s')
      process.kill(keeper, 'SIGKILL')
      process.kill(pid, 'SIGKILL')
      await gone(pid)
      for (const how of [[], ['--takeover'], ['--force']]) expect((await beside(lab, lab.dir, ...how)).code).toBe(75)
      expect(isAlive(left)).toBe(true)
      await lab.ok(['reconcile'])
      expect(isAlive(left)).toBe(false)
      expect((await beside(lab, lab.dir)).code).toBe(0)
    }),
)

verifies('lock-life', 'one directory by many names: links, dots, renames of it and of what is above it', () =>
  inLab(async (lab) => {
    const top = lab.newDir()
    const real = join(top, 'a', 'real')
    mkdirSync(join(real, 'sub'), { recursive: true })
    symlinkSync('a/real', join(top, 'link'))
    await lab.ok(['run', '--session', 's', '--dir', real, '--detach', '--', 'sleep', '1000'])
    for (const name of [join(top, 'link'), `${real}/`, `${real}/sub/..`, join(top, 'link', 'sub'), join(top, 'a'), top])
      expect([name, (await beside(lab, name)).code]).toEqual([name, 75])
    expect((await lab.hf(['run', '--session', 'other', '--dir', 'link', '--detach', '--', 'true'], { cwd: top })).code).toBe(75)
    const elsewhere = lab.newDir()
    renameSync(join(top, 'a'), join(elsewhere, 'b'))
    for (const name of [join(elsewhere, 'b', 'real'), join(elsewhere, 'b', 'real', 'sub'), elsewhere])
      expect([name, (await check(lab, name)).code]).toEqual([name, 75])
    // Where it was, nobody is any more.
    expect((await check(lab, top)).code).toBe(0)
    mkdirSync(real, { recursive: true })
    expect((await check(lab, real)).code).toBe(0)
  }),
)

verifies('lock-life', 'one that was deleted and made anew is another, even under the same number', () =>
  inLab(async (lab) => {
    const dir = join(lab.newDir(), 'd')
    mkdirSync(dir)
    // Its agent works elsewhere, so that nothing keeps the number from being used again.
    await lab.ok(['run', '--session', 's', '--dir', dir, '--detach', '--', 'sh', '-c', 'cd /; echo $$ >$FA_DIR/main.pid; exec sleep 1000'])
    await lab.pid('main')
    rmSync(dir, { recursive: true })
    mkdirSync(dir)
    expect((await check(lab, dir)).code).toBe(0)
    expect((await beside(lab, dir)).code).toBe(0)
    expect(await lab.status('s')).toMatchObject({ state: 'running' })
  }),
)

verifies('lock-life', 'bind mounts of it, of what is above and of what is below it', () =>
  inLab(async (lab) => {
    const top = lab.newDir()
    for (const name of ['a/real/sub', 'a/real/into', 'self', 'below', 'above', 'free', 'o']) mkdirSync(join(top, name), { recursive: true })
    await lab.ok(['run', '--session', 's', '--dir', join(top, 'a/real'), '--detach', '--', 'sleep', '1000'])
    const script = `cd ${top}; mount --bind a/real self; mount --bind a/real/sub below; mount --bind a above; mount --bind o a/real/into
      for d in self below above above/real above/real/sub self/sub o free; do "${COMMAND}" lock --check $d >/dev/null && c=0 || c=$?; echo "$d $c"; done`
    const { stdout, stderr } = inNamespace(script, lab.env)
    if (stdout === '') return unable(stderr)
    // In a pid namespace of its own nobody's pids mean anything, so what is held cannot be judged; but what is free is.
    const held = ['self', 'below', 'above', 'above/real', 'above/real/sub', 'self/sub', 'o'].map((name) => `${name} 76`)
    expect(stdout.trim().split('\n')).toEqual([...held, 'free 0'])
  }),
)

verifies('lock-life', 'a directory above or below is held too, one beside it is not; a run from inside is delegated, a stranger is not', () =>
  inLab(async (lab) => {
    const top = lab.newDir()
    for (const name of ['a/b/c', 'a/bc']) mkdirSync(join(top, name), { recursive: true })
    // Nor are those that it starts beside each other.
    const nested = (session: string): string => `"${COMMAND}" run --session ${session} --dir b/c --detach -- sleep 1000`
    const script = `${nested('kid')} && ${nested('kid2')} && "${COMMAND}" task start --name t -- sleep 1000; echo $? >$FA_DIR/kid.rc; exec sleep 1000`
    await lab.ok(['run', '--session', 'par', '--dir', join(top, 'a'), '--detach', '--', 'sh', '-c', script])
    expect(Number(await until('the kid', () => readOr(join(lab.agentDir, 'kid.rc')).trim()))).toBe(0)
    for (const name of ['a', 'a/b', 'a/b/c', 'a/bc', '']) expect([name, (await beside(lab, join(top, name))).code]).toEqual([name, 75])
    const kid = (await lab.status('kid')).pid
    await lab.ok(['stop', 'par'])
    expect(isAlive(kid)).toBe(false)
    await lab.ok(['run', '--session', 'p', '--dir', join(top, 'a/b'), '--detach', '--', 'sleep', '1000'])
    expect((await beside(lab, join(top, 'a/b/c'))).stderr).toContain(`is inside ${join(top, 'a/b')}, which is held by pid`)
    expect((await beside(lab, join(top, 'a'))).stderr).toContain(`contains ${join(top, 'a/b')}, which is held by pid`)
    expect((await beside(lab, join(top, 'a/bc'))).code).toBe(0)
  }),
)

verifies('lock-life', 'a lock depends on no run row: forced to lost while the tree lives, the answer is still 75, and stop still ends it', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'tree'))
    const child = await lab.pid('setsid')
    const { pid } = await lab.status('s')
    forget(lab, 's')
    expect(await lab.ok(['ls'])).toMatch(/^s .*over on record, but its tree is not.*holdfast stop s/m)
    expect((await lab.hf(['doctor'])).stdout).toMatch(/over on record, but its tree is not: its agent is alive.*holdfast stop s/s)
    // Not even retention takes its record away while it lives.
    expect(await lab.ok(['prune'])).not.toContain('retention')
    expect(await check(lab)).toMatchObject({ code: 75, holder: { session: 's', pid } })
    for (const how of [[], ['--takeover'], ['--force']]) expect((await beside(lab, lab.dir, ...how)).code).toBe(75)
    // What lives of a session is its owner, in whatever directory its next run would be.
    for (const dir of [lab.dir, lab.newDir()])
      expect((await lab.hf(['run', '--session', 's', '--dir', dir, '--share', '--detach', '--', 'true'])).code).toBe(75)
    // Not even what lies in its run directory is needed.
    rmSync(join(lab.home, 'runs'), { recursive: true })
    mkdirSync(join(lab.home, 'runs'), { mode: 0o700 })
    expect((await check(lab)).code).toBe(75)
    expect(await lab.ok(['locks'])).toContain('live on')
    expect(await lab.ok(['stop', 's'])).toContain('seen gone')
    expect([isAlive(pid), isAlive(child)]).toEqual([false, false])
    expect((await check(lab)).code).toBe(0)
    expect((await beside(lab, lab.dir)).code).toBe(0)
  }),
)

verifies('one-owner', 'a takeover ends what lives of the session although its row is over, wherever it is', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'tree'))
    const child = await lab.pid('setsid')
    forget(lab, 's')
    await lab.ok(['run', '--session', 's', '--dir', lab.newDir(), '--takeover', '--detach', '--', 'sleep', '1000'])
    expect(isAlive(child)).toBe(false)
    expect(JSON.parse(await lab.ok(['locks', '--json']))).toHaveLength(1)
    forget(lab, 's')
    expect(await lab.ok(['stop', '--all'])).toContain('s')
    expect(JSON.parse(await lab.ok(['locks', '--json']))).toEqual([])
  }),
)

verifies('lock-life', 'what is nested in a tree that lives is not orphaned by a row', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('par', 'sh', '-c', `"${COMMAND}" run --session kid --detach -- sleep 1000; exec sleep 1000`))
    const kid = await until('the kid', async () => {
      const { code, stdout } = await lab.hf(['status', 'kid', '--json'])
      return code === 0 && (JSON.parse(stdout) as { pid: number | null }).pid
    })
    forget(lab, 'par')
    await lab.ok(['reconcile'])
    expect(isAlive(kid)).toBe(true)
    await lab.ok(['stop', 'par'])
    await lab.ok(['stop', 'kid'])
  }),
)

test('a takeover that could not start anything ends nobody, and a restart is beside whom it was', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('a', 'sleep', '1000'))
    const { pid } = await lab.status('a')
    const failed = await lab.refused(['run', '--session', 'a', '--dir', lab.dir, '--takeover', '--detach', '--', '/no/such/agent'])
    expect(failed).toMatchObject({ id: 'program-missing', code: 66 })
    expect(isAlive(pid)).toBe(true)
    expect((await beside(lab, lab.dir, '--share')).code).toBe(0)
    await lab.ok(['restart', 'other'])
    expect((await lab.status('other')).epoch).toBe(2)
  }))

verifies('lock-life', 'a lock by hand that was taken inside a run is not the run’s: it does not end with it', () =>
  inLab(async (lab) => {
    const other = lab.newDir()
    await lab.ok(lab.detached('s', 'sh', '-c', `"${COMMAND}" lock ${other} --ttl 1h; echo $? >$FA_DIR/rc; exec sleep 1000`))
    await until('its lock', () => readOr(join(lab.agentDir, 'rc')).trim())
    const { keeper, pid } = await lab.unguarded('s')
    process.kill(keeper, 'SIGKILL')
    process.kill(pid, 'SIGKILL')
    await gone(pid)
    expect((await check(lab, other)).code).toBe(75)
    expect((await beside(lab, other)).code).toBe(75)
    await lab.ok(['unlock', other])
  }),
)

verifies('lock-life', 'a directory is in use where a managed agent works now, whatever it was started in', () =>
  inLab(async (lab) => {
    const there = join(lab.newDir(), 'there')
    mkdirSync(join(there, 'sub'), { recursive: true })
    const claude = program(lab, 'claude')
    // A script that goes elsewhere, and begins an agent as its child.
    const script = `cd '${there}'; '${claude}' 1000 & echo $! >$FA_DIR/agent.pid; cd /; wait`
    await lab.ok(lab.detached('moved', 'sh', '-c', script))
    const agent = await lab.pid('agent')
    await until('the agent', () => readOr(`/proc/${agent}/cmdline`).startsWith(claude))
    for (const dir of [there, join(there, 'sub')]) {
      expect(await check(lab, dir)).toMatchObject({ code: 75, state: 'held', worksIn: there, holder: { session: 'moved' } })
      const { code, stderr } = await beside(lab, dir)
      expect([code, stderr]).toEqual([75, expect.stringMatching(new RegExp(`session moved.*whose agent works in ${there} now`))])
    }
    expect(isAlive(agent)).toBe(true)
    process.kill(agent, 'SIGKILL')
    await gone(agent)
    expect((await check(lab, there)).code).toBe(0)
    await lab.ok(['stop', 'moved'])
    // A command that goes elsewhere itself; beside it on purpose is allowed.
    await lab.ok(lab.detached('goes', 'sh', '-c', `cd '${there}'; echo $$ >$FA_DIR/goes.pid; exec sleep 1000`))
    const goes = await lab.pid('goes')
    await until('it to be there', () => readlinkSync(`/proc/${goes}/cwd`) === there)
    expect((await check(lab, there)).code).toBe(75)
    expect((await beside(lab, there, '--share')).code).toBe(0)
  }),
)

verifies('visible', 'locks prints the path that a directory has now, and the one that it was taken as', () =>
  inLab(async (lab) => {
    const top = lab.newDir()
    mkdirSync(join(top, 'before'))
    await lab.ok(['run', '--session', 's', '--dir', join(top, 'before'), '--detach', '--', 'sleep', '1000'])
    renameSync(join(top, 'before'), join(top, 'after'))
    expect(JSON.parse(await lab.ok(['locks', '--json']))).toMatchObject([{ dir: join(top, 'after'), takenAs: join(top, 'before') }])
    expect(await lab.ok(['locks'])).toContain(`it was ${join(top, 'before')} when it was taken`)
  }),
)

verifies('lock-life', 'what is called deleted, and is not, is held', () =>
  inLab(async (lab) => {
    const top = lab.newDir()
    mkdirSync(join(top, 'd'))
    await lab.ok(['run', '--session', 's', '--dir', join(top, 'd'), '--detach', '--', 'sleep', '1000'])
    renameSync(join(top, 'd'), join(top, 'd (deleted)'))
    expect((await check(lab, join(top, 'd (deleted)'))).code).toBe(75)
  }),
)

verifies('lock-life', '--share is recorded and shown on both; a third is refused; what is beside is told', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('a', 'sleep', '1000'))
    const shared = await beside(lab, lab.dir, '--share')
    expect([shared.code, shared.stderr]).toEqual([0, expect.stringContaining(`it shares ${lab.dir} with a`)])
    const locks = JSON.parse(await lab.ok(['locks', '--json'])) as { session: string; sharedWith: string[] }[]
    expect(locks.map(({ session, sharedWith }) => [session, sharedWith])).toEqual([
      ['a', [`other in ${lab.dir}`]],
      ['other', [`a in ${lab.dir}`]],
    ])
    expect(await lab.ok(['status', 'a'])).toContain(`shared with  other in ${lab.dir}`)
    expect(await lab.ok(['events', 'a'])).toContain('shared')
    expect((await lab.hf(lab.detached('third', 'true'))).code).toBe(75)
    await lab.ok(['stop', 'a'])
    expect((await lab.hf(lab.detached('third', 'true'))).stderr).toContain('session other')
  }),
)

test('what is there and cannot be entered is unknown to a check', () =>
  inLab(async (lab) => {
    if (process.getuid?.() !== 0) return unable('only root can be another user')
    const dir = join(lab.newDir(), 'closed')
    mkdirSync(dir, { mode: 0o700 })
    const result = spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', COMMAND, 'lock', '--check', dir, '--json'], {
      env: { PATH: process.env['PATH'], HOLDFAST_HOME: `/tmp/hf-nobody-${process.pid}` },
      encoding: 'utf8',
    })
    rmSync(`/tmp/hf-nobody-${process.pid}`, { recursive: true, force: true })
    expect([result.status, result.stdout]).toEqual([76, expect.stringContaining('"state":"unknown"')])
  }))

test('`.git` is nobody’s place, and what is no directory is told', () =>
  inLab(async (lab) => {
    mkdirSync(join(lab.dir, '.git', 'hooks'), { recursive: true })
    for (const name of ['.git', '.git/hooks']) {
      expect((await beside(lab, join(lab.dir, name))).code).toBe(64)
      expect(await lab.refused(['lock', join(lab.dir, name)])).toMatchObject({ id: 'directory-of-git', code: 64 })
    }
    expect(await lab.refused(['lock', lab.dir, '--reason', 'x'.repeat(201)])).toMatchObject({ id: 'option-value-invalid', code: 64 })
    for (const args of [['lock', '--check'], ['lock'], ['unlock']])
      expect(await lab.refused([...args, join(lab.dir, 'nope')])).toMatchObject({ id: 'directory-missing', code: 66 })
    for (const args of [['lock'], ['lock', '--check'], ['unlock'], ['lock', 'a', 'b'], ['lock', '--check', '.', '--ttl', '5s'], ['locks', 'x']])
      expect([args, (await lab.hf(args)).code]).toEqual([args, 64])
  }))

verifies('bounded', 'a check of a free directory asks where agents of runs work, and looks at no keeper and at no other process', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', 'sleep', '1000'))
    const free = lab.newDir()
    const trace = join(lab.agentDir, 'trace')
    const { code } = await lab.hf(['-f', '-e', 'trace=openat,open,readlink,readlinkat', '-o', trace, COMMAND, 'lock', '--check', free], {
      command: 'strace',
    })
    if (code !== 0) return unable('strace')
    const looked = [...readOr(trace).matchAll(/"\/proc\/(\d+)\/(\w+)/g)].map(([, pid]) => Number(pid))
    const { keeper } = await lab.status('s')
    expect(looked).not.toContain(keeper)
    expect(readOr(trace)).not.toMatch(/"\/proc"/)
  }),
)
