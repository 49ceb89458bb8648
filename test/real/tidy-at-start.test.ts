import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync, readlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { cgroupStem } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { COMMAND, gone, inLab, isAlive, type Lab, readOr, startOf, TEST_COMMAND, unable, until } from './lab.ts'

type Report = {
  readonly findings: readonly { topic: string; level: string; what: string; next: string | null }[]
  readonly removed: readonly { kind: string; what: string; why: string; keep: boolean }[]
}

/** As Claude Code 2.1.325 writes it. */
const DOMAIN = `linux:${readOr('/etc/machine-id').trim()}:${readlinkSync('/proc/self/ns/pid')}`
const claudeSays = (pid: number, procStart: string, more: object = {}): string =>
  JSON.stringify({ pid, sessionId: `of-${pid}`, cwd: '/', procStart, pidDomain: DOMAIN, ...more })

verifies('identity', 'anchors of agents: doctor tells the living from the dead, --fix removes only the proven dead, and a second time nothing', () =>
  inLab(async (lab) => {
    const userHome = lab.newDir()
    const sessions = join(userHome, '.claude/sessions')
    mkdirSync(sessions, { recursive: true })
    const stranger = spawn('sleep', ['1000'], { stdio: 'ignore', env: { PATH: process.env['PATH'] } })
    const killed = spawn('sleep', ['1000'], { stdio: 'ignore', env: { PATH: process.env['PATH'] } })
    const born = startOf(killed.pid ?? 0)
    killed.kill('SIGKILL')
    await gone(killed.pid ?? 0)
    const recycled = stranger.pid ?? 0
    const put = (name: string, text: string): void => writeFileSync(join(sessions, name), text)
    // A stale one whose pid belongs to somebody else by now, one of the dead, one of the living, one of another machine, and three that make no sense.
    put(`${recycled}.json`, claudeSays(recycled, String(Number(startOf(recycled)) - 1)))
    put(`${recycled}.key`, 'a key is nobody’s business')
    put(`${killed.pid}.json`, claudeSays(killed.pid ?? 0, born))
    put(`${process.pid}.json`, claudeSays(process.pid, startOf(process.pid)))
    put('4194303.json', claudeSays(4_194_303, '5', { pidDomain: 'linux:other:pid:[4026531836]' }))
    put('0.json', claudeSays(0, '5'))
    put('-1.json', claudeSays(-1, '5'))
    put('12.json', 'garbage')
    const env = { HOME: userHome }
    const told = async (...more: string[]): Promise<Report> => JSON.parse((await lab.hf(['doctor', '--json', ...more], { env })).stdout) as Report
    const anchors = ({ findings }: Report): string[] =>
      findings.filter(({ topic }) => topic === 'anchors').map(({ level, what, next }) => `${level} ${what} > ${next}`)

    const before = readdirSync(sessions).toSorted()
    const seen = anchors(await told())
    const of = (pid: number, why: string): RegExp => new RegExp(`^note ${join(sessions, `${pid}.json`)} .*claude session of-${pid}\\): ${why}`)
    expect(seen.toSorted()).toEqual([
      'fine 1 anchor is of living agents (1 claude) > null',
      ...[
        [/\/-1\.json \(claude\): its name is no pid > .*it stays/],
        [/\/0\.json \(claude\): its name is no pid/],
        [/\/12\.json \(claude\): it is no JSON/],
        [of(4_194_303, 'it was written on another machine > it stays')],
        [of(killed.pid ?? 0, 'no such process > holdfast doctor --fix removes it')],
        [of(recycled, `pid ${recycled} now belongs to another process > holdfast doctor --fix removes it`)],
      ]
        .flat()
        .map((shape) => seen.find((line) => shape.test(line)) ?? `nothing like ${shape}`)
        .toSorted(),
    ])
    expect(readdirSync(sessions).toSorted()).toEqual(before)

    const fixed = await told('--fix')
    const gonePaths = [recycled, killed.pid].map((pid) => `${pid}.json`)
    expect(
      fixed.removed
        .filter(({ keep }) => !keep)
        .map(({ kind, what }) => [kind, what.split(' ')[0]])
        .toSorted(),
    ).toEqual(gonePaths.map((name) => ['anchor', join(sessions, name)]).toSorted())
    expect(fixed.removed.filter(({ keep }) => keep)).toHaveLength(5)
    expect(fixed.removed.find(({ what }) => what.includes(`/${process.pid}.json`))).toMatchObject({
      keep: true,
      why: expect.stringMatching(/is alive/) as string,
    })
    expect(readdirSync(sessions).toSorted()).toEqual(before.filter((name) => !gonePaths.includes(name)))

    const { stdout: again } = await lab.hf(['doctor', '--fix'], { env })
    expect(again).toContain('anchors of agents: 0 removed; stayed: 1 alive, 1 unknown, 3 malformed\n')
    expect(again).not.toMatch(/^removed/m)
    expect(isAlive(recycled)).toBe(true)
    stranger.kill('SIGKILL')
  }),
)

verifies('identity', 'a daemon and an MCP server remove at their start the files of proven dead agents, and of tools in config.toml', () =>
  inLab(async (lab) => {
    const userHome = lab.newDir()
    const [sessions, tools] = [join(userHome, '.claude/sessions'), join(userHome, '.mytool')]
    for (const folder of [sessions, tools, lab.home]) mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(join(lab.home, 'config.toml'), '[pid_files.mytool]\npath = "~/.mytool/run-{pid}.json"\nstart = "born"\n')
    const env = { HOME: userHome }
    const put = (path: string, text: string): void => {
      writeFileSync(path, text)
      // However old it is, a living process keeps its file.
      utimesSync(path, 0, 0)
    }
    const living = spawn('sleep', ['1000'], { stdio: 'ignore', env: { PATH: process.env['PATH'] } })
    const alive = living.pid ?? 0
    put(join(sessions, `${alive}.json`), claudeSays(alive, startOf(alive)))
    put(join(tools, `run-${alive}.json`), JSON.stringify({ born: Number(startOf(alive)) }))
    put(join(tools, 'run-x.json'), '{}')
    put(join(tools, '4194303.json'), '{}')
    const kept = [`${alive}.json`, '4194303.json', `run-${alive}.json`, 'run-x.json'].toSorted()
    const left = (): string[] => [...readdirSync(sessions), ...readdirSync(tools)].toSorted()
    const [command = '', ...words] = [COMMAND, 'mcp']
    for (const begin of ['daemon', 'mcp']) {
      put(join(sessions, '4194302.json'), claudeSays(4_194_302, '5'))
      put(join(tools, 'run-4194302.json'), JSON.stringify({ born: 5 }))
      const server = begin === 'mcp' ? spawn(command, words, { env: { ...lab.env, ...env }, stdio: ['pipe', 'ignore', 'ignore'] }) : null
      if (begin === 'daemon') await lab.ok(['daemon', 'start'], { env })
      await until(`${begin} to sweep`, () => left().length === kept.length)
      expect(left()).toEqual(kept)
      server?.stdin?.end()
      if (begin === 'daemon') await lab.ok(['daemon', 'stop'], { env })
    }
    expect(isAlive(alive)).toBe(true)
    living.kill('SIGKILL')
  }),
)

verifies('unknown', 'the anchor of a process of another user, which may not even be seen (EPERM), is one of the living', () =>
  inLab(async (lab) => {
    if (process.getuid?.() !== 0) return unable('another user needs root')
    const userHome = lab.newDir()
    const sessions = join(userHome, '.claude/sessions')
    mkdirSync(sessions, { recursive: true })
    writeFileSync(join(sessions, `${process.pid}.json`), claudeSays(process.pid, startOf(process.pid)))
    // Its ticks are others, but who cannot look cannot say so.
    const other = spawn('sleep', ['1000'], { stdio: 'ignore', env: { PATH: process.env['PATH'] } })
    writeFileSync(join(sessions, `${other.pid}.json`), claudeSays(other.pid ?? 0, '5'))
    for (const path of [userHome, join(userHome, '.claude'), sessions]) chownSync(path, 65534, 65534)
    const root = join(lab.home, '..')
    const nobody = `setpriv --reuid 65534 --regid 65534 --clear-groups ${COMMAND} doctor --fix`
    const script = `mount -t proc -o hidepid=2 proc /proc; chmod 711 ${root}; ${nobody}`
    const env = { ...lab.env, HOME: userHome, HOLDFAST_HOME: join(userHome, 'hf') }
    const { stdout } = spawnSync('unshare', ['-m', 'bash', '-euc', script], { env, encoding: 'utf8' })
    expect(stdout).toContain('anchors of agents: 0 removed; stayed: 2 alive\n')
    expect(readdirSync(sessions)).toHaveLength(2)
    other.kill('SIGKILL')
  }),
)

const runs = (lab: Lab): string[] => readdirSync(join(lab.home, 'runs')).map((run) => join(lab.home, 'runs', run))

verifies('lock-life', 'what dead processes of ours left is gone after the next start, which says so; what the living have is not', () =>
  inLab(async (lab) => {
    const [held, kept] = [lab.newDir(), lab.newDir()]
    const holder = spawn('sleep', ['1000'], { stdio: 'ignore', env: { PATH: process.env['PATH'] } })
    const living = spawn('sleep', ['1000'], { stdio: 'ignore', env: { PATH: process.env['PATH'] } })
    await lab.ok(['lock', held, '--pid', String(holder.pid)])
    await lab.ok(['lock', kept, '--pid', String(living.pid)])
    // In the foreground, so that its keeper has a pipe and a plan; then nobody is left who could tidy up.
    lab.start(['run', '--session', 's', '--dir', lab.dir, '--timeout', '1h', '--', 'sleep', '1000'])
    const [run = ''] = await until(
      'the run',
      () => existsSync(join(lab.home, 'runs')) && runs(lab).some((path) => existsSync(join(path, 'timer'))) && runs(lab),
    )
    const { pid, keeper } = await lab.status('s')
    const [timer = 0, guard = 0] = ['timer', 'guard'].map((name) => Number.parseInt(readOr(join(run, name)), 10))
    process.kill(timer, 'SIGTERM')
    for (const victim of [guard, keeper, pid, holder.pid ?? 0]) process.kill(victim, 'SIGKILL')
    for (const victim of [timer, guard, keeper, pid, holder.pid ?? 0]) await gone(victim)
    expect(readdirSync(run)).toEqual(expect.arrayContaining(['guard', 'plan', 'timer']))
    // Its agent was told something once: that number is no pid, although pid 1 is alive.
    writeFileSync(join(run, 'aware.1'), '{}')
    // One that a crash left: no live run has it, and nobody is in it.
    const stem = cgroupStem(readOr(join(lab.home, 'install')).trim())
    const own = readOr(join(run, 'cgroup')).trimEnd()
    const empty = own === '' ? [] : [own, join(dirname(own), `${stem}r0123456789ab`)]
    for (const path of empty) mkdirSync(path, { recursive: true })

    const { code, stderr } = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--detach', '--', 'sleep', '1000'])
    expect(code, stderr).toBe(0)
    expect(stderr).toMatch(new RegExp(`^holdfast: removed ${2 + empty.length} things that dead processes left: .*\n$`))
    for (const path of empty) expect([stderr, existsSync(path)]).toEqual([expect.stringContaining(path), false])
    expect(stderr).toContain(`the lock of pid ${holder.pid} on ${held}; `)
    expect(stderr).toContain(`${run}: aware.1, guard, plan, timer`)
    expect(stderr).not.toContain(kept)
    expect(readdirSync(run).filter((name) => ['aware.1', 'guard', 'plan', 'timer'].includes(name))).toEqual([])
    const locks = JSON.parse(await lab.ok(['locks', '--json'])) as { dir: string }[]
    expect(locks.map(({ dir }) => dir).toSorted()).toEqual([kept, lab.dir].toSorted())
    const { run: current } = (await lab.status('s')) as unknown as { run: string }
    expect(existsSync(join(lab.home, 'runs', current, 'plan'))).toBe(true)

    // Nothing is left for the next one to say.
    const quiet = await lab.hf(['run', '--session', 't', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1000'])
    expect([quiet.code, quiet.stderr]).toEqual([0, ''])
    living.kill('SIGKILL')
  }),
)

verifies(
  'one-owner',
  'starts at once remove each thing once and take nothing from each other; one that cannot look, or dies of it, starts all the same',
  () =>
    inLab(async (lab) => {
      const holder = spawn('sleep', ['1000'], { stdio: 'ignore', env: { PATH: process.env['PATH'] } })
      for (let count = 0; count < 3; count++) await lab.ok(['lock', lab.newDir(), '--pid', String(holder.pid)])
      holder.kill('SIGKILL')
      await gone(holder.pid ?? 0)
      const dirs = Array.from({ length: 4 }, () => lab.newDir())
      const started = await Promise.all(
        dirs.map((dir, index) => lab.hf(['run', '--session', `s${index}`, '--dir', dir, '--detach', '--', 'sleep', '1000'])),
      )
      for (const { code, stderr } of started) expect(code, stderr).toBe(0)
      expect(started.flatMap(({ stderr }) => [...stderr.matchAll(/the lock of pid (\d+)/g)].map((match) => Number(match[1])))).toEqual(
        Array.from({ length: 3 }, () => holder.pid),
      )
      for (const index of dirs.keys()) expect(await lab.status(`s${index}`)).toMatchObject({ state: 'running', epoch: 1 })
      const failing = { command: TEST_COMMAND, env: { HOLDFAST_FAILPOINTS: 'before:store.retention.remains=throw' } }
      const told = await lab.hf(['run', '--session', 't', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1000'], failing)
      expect([told.code, told.stderr]).toEqual([
        0,
        expect.stringContaining('what dead processes left was not removed: failpoint store.retention.remains'),
      ])
      const killed = { command: TEST_COMMAND, env: { HOLDFAST_FAILPOINTS: 'before:store.retention.remains=kill' } }
      expect((await lab.hf(['run', '--session', 'u', '--dir', lab.newDir(), '--', 'sh', '-c', 'exit 7'], killed)).code).toBe(7)
      expect(await lab.status('u')).toMatchObject({ state: 'failed', exit: { code: 7 } })
    }),
)
