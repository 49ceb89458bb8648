import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { claimsOf } from '../../src/app/agent/find-agents.ts'
import { openWorld } from '../../src/app/compose/open-world.ts'
import { ownedAlready } from '../../src/app/start/checks/conversation-owners.ts'
import type { Agent } from '../../src/model/index.ts'
import { row, session } from '../decide/build.ts'
import { verifies } from '../requirements.ts'
import { inLab, isAlive, type Lab, readOr, startOf } from './lab.ts'
import { carries, program, register, saying, stranger } from './strangers.ts'

/** Nobody else's, since all processes of the machine are looked at. */
const X = randomUUID()
const Y = randomUUID()

type Entry = Record<string, unknown> & { pid: number; session: string | null }
const listed = async (lab: Lab, env: NodeJS.ProcessEnv, ...more: string[]): Promise<Entry[]> =>
  JSON.parse(await lab.ok(['ls', '--json', ...more], { env })) as Entry[]

/** A live session that has a native id on record. */
async function bound(lab: Lab, name: string, id: string, ...argv: string[]): Promise<number> {
  await lab.ok(['run', '--session', name, '--dir', lab.newDir(), '--detach', '--', ...argv])
  carries(lab, name, id)
  return (await lab.status(name)).pid
}

verifies('visible', 'ls shows agents that Holdfast did not start, with an id only where their harness proves it', () =>
  inLab(async (lab) => {
    const config = lab.newDir()
    const env = { CLAUDE_CONFIG_DIR: config }
    await lab.ok(lab.detached('s', program(lab, 'codex'), '1000'))
    const dir = lab.newDir()
    await stranger(dir, program(lab, 'claude', '/bin/bash'), saying(lab, '--resume', X), async ({ pid }) => {
      const entry = async () => (await listed(lab, env, '--unmanaged')).find((one) => one.pid === pid)
      expect(await entry()).toMatchObject({ managed: false, session: null, harness: 'claude', dir, nativeId: null, named: X, launchers: [] })
      register(config, pid, Y, { procStart: '1' })
      expect(await entry(), 'what is said of an earlier process proves nothing').toMatchObject({ nativeId: null })
      register(config, pid, Y)
      expect(await entry()).toMatchObject({ nativeId: Y, named: X, duplicateOf: [] })
      const text = await lab.ok(['ls', '--all'], { env })
      expect(text).toMatch(new RegExp(`^not managed by Holdfast:\\n.*^claude +${pid} .*${dir.slice(-8)} +${Y} +claude -c`, 'ms'))
      expect(text).toContain('holdfast adopt PID')
      // A member of a run is no stranger, and who asks for sessions gets nothing else.
      expect((await listed(lab, env, '--unmanaged')).map((one) => one.pid)).not.toContain((await lab.status('s')).pid)
      for (const more of [[], ['--all']]) expect(await listed(lab, env, ...more)).toMatchObject([{ session: 's', managed: true }])
      expect(isAlive(pid)).toBe(true)
    })
  }),
)

test('ls and status tell the first words of a conversation that its harness keeps on disk', () =>
  inLab(async (lab) => {
    const config = lab.newDir()
    Object.assign(lab.env, { CLAUDE_CONFIG_DIR: config, COLUMNS: '120' })
    mkdirSync(join(config, 'projects', '-w'), { recursive: true })
    const said = { type: 'user', cwd: lab.dir, message: { role: 'user', content: 'Fix the \u001B[2Jparser' } }
    writeFileSync(join(config, 'projects', '-w', `${X}.jsonl`), `${JSON.stringify(said)}\n`)
    await bound(lab, 's', X, program(lab, 'claude'), '1000')
    expect(await lab.ok(['ls'])).toMatch(/^s +(running|busy|idle) .* claude +Fix the ·\[2Jparser/m)
    expect(await lab.ok(['status', 's'])).toMatch(/^ {2}agent +claude · pid \d+ · Fix the ·\[2Jparser$/m)
  }))

verifies('one-owner', 'two live owners of one native id are flagged by ls and doctor, whoever started them, until one is gone', () =>
  inLab(async (lab) => {
    const config = lab.newDir()
    const env = { CLAUDE_CONFIG_DIR: config }
    const claude = program(lab, 'claude')
    const own = await bound(lab, 's', X, claude, '1000')
    register(config, own, X)
    const flags = async (...more: string[]) =>
      (await listed(lab, env, ...more)).filter(
        (one) => JSON.stringify(one['duplicateOf']).includes('proven') && (one.session === 's' || one['dir'] === lab.dir),
      )
    const doctor = async () => lab.hf(['doctor'], { env })
    await stranger(lab.dir, claude, ['1000'], async ({ pid }) => {
      expect([await flags('--all'), await flags('--unmanaged')]).toEqual([[], []])
      register(config, pid, X)
      const ours = { session: 's', duplicateOf: [{ session: null, pid, how: 'proven' }] }
      expect(await flags()).toMatchObject([ours])
      expect(await flags('--all')).toMatchObject([ours])
      expect(await flags('--unmanaged')).toMatchObject([{ session: null, pid, duplicateOf: [{ session: 's', pid: own, how: 'proven' }] }])
      const { stdout, stderr, code } = await lab.hf(['ls', '--all'], { env })
      const flagged = stdout.split('\n').filter((line) => line.includes('both write to the same transcript'))
      for (const [first, other] of [
        [`s `, pid],
        ['claude ', own],
      ] as const)
        expect(flagged.filter((line) => line.startsWith(first) && line.includes(`also owned by pid ${other} `))).toHaveLength(1)
      expect([code, stderr]).toEqual([0, expect.stringMatching(new RegExp(`claude session ${X} has two live owners: .*pid ${pid} \\(not managed`))])
      expect(stderr).toContain(`holdfast stop s, or end pid ${pid} yourself`)
      const told = await doctor()
      expect([told.code, told.stdout]).toEqual([76, expect.stringContaining(`trouble owners: claude session ${X} has two live owners`)])
      // It has gone on to another one: what it says now counts.
      register(config, pid, Y)
      expect([await flags(), await flags('--all'), (await doctor()).stdout.includes(X)]).toEqual([[], [], false])
    })
    expect(isAlive(own)).toBe(true)
  }),
)

test('where no harness tells, a command line is enough for a question, not for an alarm', () =>
  inLab(async (lab) => {
    const gemini = program(lab, 'gemini', '/bin/bash')
    await stranger(lab.newDir(), gemini, saying(lab, '--session-id', X), ({ pid: first }) =>
      stranger(lab.newDir(), gemini, saying(lab, '--resume', X), async ({ pid: second }) => {
        const { code, stdout } = await lab.hf(['doctor'])
        const told = stdout.split('\n').find((line) => line.includes(X))
        expect(told).toMatch(/^note +owners: gemini session .* seems to have two live owners: /)
        for (const pid of [first, second]) expect(told).toContain(`pid ${pid} (not managed, by its command line)`)
        expect(code).toBe(stdout.includes('trouble') ? 76 : 0)
      }),
    )
  }))

verifies('one-owner', 'a start of a native id that a live process owns is refused, in any directory, and names it', () =>
  inLab(async (lab) => {
    const config = lab.newDir()
    const world = openWorld({ assets: resolve('dist'), home: lab.home, env: { ...lab.env, CLAUDE_CONFIG_DIR: config } })
    const refused = (id: string, except: string | null = null) => ownedAlready(world, { harness: 'claude', id }, except === null ? [] : [except])
    const claude = program(lab, 'claude', '/bin/bash')
    const dir = lab.newDir()
    await stranger(dir, claude, saying(lab, '--resume', X), async ({ pid }) => {
      const line = `claude session ${X} is in use by claude (pid ${pid}) since `
      const problem = await refused(X)
      expect(problem).toMatchObject({ kind: 'held', exitCode: 75, message: expect.stringContaining(line) })
      expect(problem).toMatchObject({
        message: expect.stringContaining(`in ${dir}, which Holdfast did not start (its command line names it`),
        hint: expect.stringMatching(new RegExp(`holdfast adopt ${pid} .*end it yourself.*--allow-unmanaged`)),
        detail: { nativeId: X, unmanaged: [{ harness: 'claude', pid, dir, how: 'named' }] },
      })
      expect(await refused(Y)).toBeNull()
      // Its harness says that it has another one by now.
      register(config, pid, Y)
      expect(await refused(X)).toBeNull()
      expect(await refused(Y)).toMatchObject({ message: expect.stringContaining('its harness says so') })
      expect(await ownedAlready(world, { harness: 'codex', id: Y }, [])).toBeNull()
    })
    expect(await refused(Y), 'it is gone, and what it left in the registry proves nothing').toBeNull()
    // What belongs to a session is left to its own claim, and in the way of any other.
    const pid = await bound(lab, 's', X, claude, ...saying(lab, '--resume', X))
    expect(await refused(X, 's')).toBeNull()
    expect(await refused(X, 't')).toMatchObject({
      message: expect.stringMatching(new RegExp(`pid ${pid}.*part of session s`)),
      hint: expect.stringContaining('holdfast stop s'),
      detail: { sessions: ['s'], unmanaged: [] },
    })
    // What is on record of it is newer than its command line.
    carries(lab, 's', Y)
    expect(await refused(X, 't')).toBeNull()
    expect(await refused(Y, 't')).toMatchObject({ message: expect.stringContaining('(on record)') })
    world.close()
  }),
)

test('a background session of a daemon is in the way too, and is told how to join and to end it', () =>
  inLab(async (lab) => {
    const config = lab.newDir()
    const claude = program(lab, 'claude', '/bin/bash')
    const [, waiting = ''] = saying(lab)
    mkdirSync(resolve(config, 'daemon'), { recursive: true })
    writeFileSync(resolve(lab.agentDir, 'daemon'), `${waiting}\n`)
    const keeper = spawn(claude, ['daemon', 'run'], {
      cwd: lab.agentDir,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], CLAUDE_CONFIG_DIR: config },
    })
    try {
      await stranger(lab.dir, claude, saying(lab), async ({ pid }) => {
        register(config, pid, X, { kind: 'bg' })
        writeFileSync(
          resolve(config, 'daemon', 'roster.json'),
          JSON.stringify({ workers: { abc: { pid: 1, replPid: pid, replProcStart: startOf(pid), cwd: lab.dir } } }),
        )
        const env = { CLAUDE_CONFIG_DIR: config }
        const world = openWorld({ assets: resolve('dist'), home: lab.home, env: { ...lab.env, ...env } })
        expect(await ownedAlready(world, { harness: 'claude', id: X }, [])).toMatchObject({
          id: 'conversation-in-use',
          hint: expect.stringMatching(/^claude attach abc joins it · claude stop abc ends it$/),
        })
        world.close()
        expect((await listed(lab, env, '--unmanaged')).find((one) => one.pid === pid)).toMatchObject({
          nativeId: X,
          keptBy: { what: "Claude Code's daemon", stop: [claude, 'stop', 'abc'] },
        })
      })
    } finally {
      keeper.kill('SIGKILL')
    }
  }))

verifies('one-owner', 'who is adopted brings along the id that is proven, unless another live session owns it', () =>
  inLab(async (lab) => {
    const config = lab.newDir()
    const env = { CLAUDE_CONFIG_DIR: config }
    const claude = program(lab, 'claude', '/bin/bash')
    await stranger(lab.dir, claude, saying(lab, '--resume', X), async ({ pid }) => {
      register(config, pid, Y)
      await bound(lab, 's', Y, 'sleep', '1000')
      const refusal = await lab.hf(['adopt', String(pid), '--session', 'taken'], { env })
      expect([refusal.code, refusal.stderr]).toEqual([75, expect.stringContaining(`claude session ${Y} is owned by session s`)])
      await lab.ok(['stop', 's'])
      await lab.ok(['adopt', String(pid), '--session', 'taken'], { env })
      const { run } = (await lab.status('taken')) as unknown as { run: string }
      expect(readOr(resolve(lab.home, 'runs', run, 'native'))).toBe(`claude ${Y}\n`)
      await lab.ok(['stop', 'taken'])
    })
  }),
)

test('what a process that may not be looked at calls itself is no claim', () => {
  const agent: Agent = { harness: 'claude', row: row(7), launchers: [], argv: [], cwd: '/w', nativeId: null, named: X }
  const claims = (over: Partial<Agent>) => claimsOf([{ agent: { ...agent, ...over }, session: null }], []).map(({ how, nativeId }) => [how, nativeId])
  expect(claims({})).toEqual([['named', X]])
  expect(claims({ cwd: null })).toEqual([])
  expect(claims({ cwd: null, nativeId: Y })).toEqual([['proven', Y]])
})

test('what is on record is said of the agent in a session’s tree, not of the shell around it or of what it started', () => {
  const agent = (pid: number, ticks: number, nativeId: string | null): Agent => ({
    harness: 'claude',
    row: row(pid, { ticks }),
    launchers: [],
    argv: [],
    cwd: '/w',
    nativeId,
    named: null,
  })
  const held = { session: session({ id: 's', harness: 'claude', native: X }), pid: 5 }
  const recordedOn = (...agents: Agent[]) =>
    claimsOf(
      agents.map((one) => ({ agent: one, session: 's' })),
      [held],
    ).find(({ how }) => how === 'recorded')?.pid
  expect(recordedOn()).toBe(5)
  expect(recordedOn(agent(9, 90, null), agent(8, 80, null))).toBe(8)
  expect(recordedOn(agent(9, 90, X), agent(8, 80, Y))).toBe(9)
})
