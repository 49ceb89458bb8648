import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { COMMAND, gone, inLab, inNamespace, type Lab, readOr, unable, until } from './lab.ts'

type Locked = { dir: string; pid: number | null; kind: string; reason: string; proof: string; expiresAt: string | null; broken?: boolean }
const locksOf = async (lab: Lab): Promise<Locked[]> => JSON.parse(await lab.ok(['locks', '--json'])) as Locked[]
const codeOf = async (lab: Lab, ...args: string[]): Promise<number | null> => (await lab.hf(args)).code

/** A shell of its own, that does what it is told line by line; `run` answers the exit code. */
function shell(lab: Lab): { child: ChildProcess; run: (command: string) => Promise<number> } {
  const child = spawn('sh', [], {
    cwd: lab.dir,
    env: { ...lab.env, PATH: `${join(COMMAND, '..')}:${process.env['PATH']}` },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  let serial = 0
  const run = async (command: string): Promise<number> => {
    const answer = join(lab.agentDir, `answer${++serial}`)
    child.stdin?.write(`${command}\necho $? >${answer}\n`)
    return Number(await until(command, () => readOr(answer).trim()))
  }
  return { child, run }
}

verifies('lock-life', 'held by the calling shell: as long as it lives, against everybody but what it starts itself', () =>
  inLab(async (lab) => {
    const { child, run } = shell(lab)
    expect(await run(`holdfast lock ${lab.dir} --reason deploy`)).toBe(0)
    expect(await locksOf(lab)).toMatchObject([
      { dir: lab.dir, pid: child.pid, kind: 'process', reason: 'deploy', proof: expect.stringContaining('is alive') as string },
    ])
    expect(await codeOf(lab, 'lock', '--check', lab.dir)).toBe(75)
    const refused = await lab.hf(lab.detached('s', 'true'))
    expect([refused.code, refused.stderr]).toEqual([75, expect.stringMatching(/held by pid \d+ \(sh, .*by hand .*"deploy".*holdfast unlock/s)])
    // What the shell itself starts is of its own tree.
    expect(await run(`holdfast run --session mine --dir ${lab.dir} --detach -- sleep 1000`)).toBe(0)
    // Its own lock may go while that run lives.
    expect(await run(`holdfast unlock ${lab.dir}`)).toBe(0)
    expect(await locksOf(lab)).toMatchObject([{ kind: 'run' }])
    await lab.ok(['stop', 'mine'])
    // Not the program that only passes it on, but the shell holds it.
    expect(await run(`timeout 10 holdfast lock ${lab.dir} --reason again`)).toBe(0)
    expect(await locksOf(lab)).toMatchObject([{ reason: 'again' }])
    child.kill('SIGKILL')
    await gone(child.pid ?? 0)
    expect(await codeOf(lab, 'lock', '--check', lab.dir)).toBe(0)
    expect(await locksOf(lab)).toEqual([])
    expect(await codeOf(lab, ...lab.detached('s', 'true'))).toBe(0)
  }),
)

verifies('lock-life', 'held by a named process, and by no other tenant of its pid; frozen is alive, a zombie is not', () =>
  inLab(async (lab) => {
    const holder = spawn('sleep', ['1000'], { stdio: 'ignore', env: { PATH: process.env['PATH'] } })
    const pid = holder.pid ?? 0
    await lab.ok(['lock', lab.dir, '--pid', String(pid)])
    process.kill(pid, 'SIGSTOP')
    expect(await codeOf(lab, ...lab.detached('s', 'true'))).toBe(75)
    // Who took it for somebody else is not its owner.
    expect(await codeOf(lab, 'unlock', lab.dir)).toBe(75)
    const ended = new Promise((done) => holder.once('exit', done))
    holder.kill('SIGKILL')
    await ended
    expect(await codeOf(lab, ...lab.detached('s', 'true'))).toBe(0)
    for (const wrong of [String(pid), '999999', '1']) expect([wrong, await codeOf(lab, 'lock', lab.dir, '--pid', wrong)]).toEqual([wrong, 66])
    for (const wrong of ['0', '-1', 'x', '', '99999999999']) expect([wrong, await codeOf(lab, 'lock', lab.dir, '--pid', wrong)]).toEqual([wrong, 64])
  }),
)

verifies('lock-life', 'held by nobody but the time: until it is over or unlocked, whatever became of who took it', () =>
  inLab(async (lab) => {
    await lab.ok(['lock', lab.dir, '--ttl', '1h', '--reason', 'frozen for the release'])
    expect(await locksOf(lab)).toMatchObject([{ kind: 'time', pid: null, expiresAt: expect.any(String) as string }])
    const refused = await lab.hf(lab.detached('s', 'true'))
    expect([refused.code, refused.stderr]).toEqual([75, expect.stringContaining('frozen for the release')])
    // Two scripts of one user exclude each other.
    expect(await codeOf(lab, 'lock', lab.dir, '--ttl', '1h')).toBe(75)
    expect(await lab.ok(['unlock', lab.dir])).toContain('unlocked')
    await lab.ok(['lock', lab.dir, '--ttl', '300ms'])
    await until('its time to be over', async () => (await codeOf(lab, 'lock', '--check', lab.dir)) === 0)
    // One whose directory was deleted and made anew is known by its former path.
    const dir = join(lab.newDir(), 'd')
    mkdirSync(dir)
    await lab.ok(['lock', dir, '--ttl', '1h'])
    rmSync(dir, { recursive: true })
    mkdirSync(dir)
    expect(await codeOf(lab, 'lock', '--check', dir)).toBe(0)
    expect(await lab.ok(['unlock', dir])).toContain('unlocked')
    expect(await locksOf(lab)).toEqual([])
    for (const wrong of ['0', 'x', '-5s', '9999999d']) expect([wrong, await codeOf(lab, 'lock', lab.dir, '--ttl', wrong)]).toEqual([wrong, 64])
  }),
)

verifies('lock-life', 'unlocked only by its owner, or with --force, which names what it broke', () =>
  inLab(async (lab) => {
    const { child, run } = shell(lab)
    await run(`holdfast lock ${lab.dir} --reason mine`)
    const refused = await lab.hf(['unlock', lab.dir])
    expect([refused.code, refused.stderr]).toEqual([75, expect.stringMatching(/held by pid \d+ \(sh.*not yours.*--force/s)])
    expect(await lab.ok(['unlock', lab.dir, '--force'])).toMatch(
      new RegExp(`broke the lock on ${lab.dir}: it was held by pid ${child.pid} \\(sh, .*"mine"`),
    )
    expect(await locksOf(lab)).toEqual([])
    expect(await lab.ok(['unlock', lab.dir])).toContain('is not locked')
    await run(`holdfast lock ${lab.dir}`)
    expect(await run(`sh -c 'holdfast unlock ${lab.dir}; true'`)).toBe(0)
    expect(await locksOf(lab)).toEqual([])
    child.kill('SIGKILL')
    await gone(child.pid ?? 0)
  }),
)

verifies('lock-life', 'a run’s lock is its tree’s: not even --force takes it away while that lives', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', 'sleep', '1000'))
    for (const how of [[], ['--force']]) {
      const refused = await lab.hf(['unlock', lab.dir, ...how])
      expect([refused.code, refused.stderr]).toEqual([75, expect.stringContaining('holdfast stop s')])
    }
    expect(await codeOf(lab, 'lock', '--check', lab.dir)).toBe(75)
    expect(await codeOf(lab, 'lock', lab.dir)).toBe(75)
  }),
)

test('in a container the shell may be pid 1: then a process or a time must be named', () =>
  inLab(async (lab) => {
    const { stdout, stderr } = inNamespace(
      `cd ${lab.newDir()}; sleep 100 & p=$!; mkdir a b c; for w in "a --pid $p" 'b --ttl 5m' c; do "${COMMAND}" lock $w >/dev/null 2>&1 && c=0 || c=$?; echo $c; done`,
      lab.env,
    )
    if (stdout === '') return unable(stderr)
    expect(stdout.trim().split('\n')).toEqual(['0', '0', '64'])
  }))

test('two scripts that lock at once: one of them has it', () =>
  inLab(async (lab) => {
    const holders = Array.from({ length: 8 }, () => spawn('sleep', ['1000'], { stdio: 'ignore', env: { PATH: process.env['PATH'] } }))
    const codes = await Promise.all(holders.map(({ pid }) => codeOf(lab, 'lock', lab.dir, '--pid', String(pid))))
    for (const holder of holders) holder.kill('SIGKILL')
    expect(codes.toSorted()).toEqual([0, ...Array.from({ length: 7 }, () => 75)])
  }))
