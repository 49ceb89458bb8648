import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SESSION_VARIABLES } from '../../src/harness/index.ts'
import { verifies } from '../requirements.ts'
import { gone, inLab, isAlive, type Lab, readOr, until } from './lab.ts'

/** A lab with a stand-in for claude on its PATH. */
const withAgent = (body: (lab: Lab, env: NodeJS.ProcessEnv) => Promise<void>): (() => Promise<void>) => {
  return () =>
    inLab(async (lab) => {
      const bin = join(lab.agentDir, 'bin')
      mkdirSync(bin)
      copyFileSync('test/fixtures/claude', join(bin, 'claude'))
      chmodSync(join(bin, 'claude'), 0o755)
      spawnSync('mkfifo', [join(lab.agentDir, 'never')])
      await body(lab, {
        PATH: `${bin}:${process.env['PATH']}`,
        HOME: lab.agentDir,
        CLAUDE_CONFIG_DIR: join(lab.agentDir, 'config'),
        FA_HOOK: resolve('dist'),
        FA_DO: 'wait',
      })
    })
}
type Burned = { usage: { tokens: { total: number } | null; unwatched: { tokens: { total: number } } | null } }
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const argvOf = (lab: Lab): string[] => readOr(join(lab.agentDir, 'argv')).trimEnd().split('\n')

describe('an agent that Holdfast knows', () => {
  verifies(
    'one-owner',
    'its session gets an id of ours, is resumed by every id it has, with what matters of its options; and while it lives nobody begins it twice',
    withAgent(async (lab, env) => {
      await lab.ok(['run', '--session', 'work', '--dir', lab.dir, '--detach', 'claude', '-p', 'a prompt', '--model', 'opus'], { env })
      const first = JSON.parse(await lab.ok(['status', 'work', '--json'], { env }))
      expect(first).toMatchObject({ harness: 'claude', nativeId: expect.stringMatching(UUID), state: 'running' })
      const id = first.nativeId as string
      await until('its argv', () => existsSync(join(lab.agentDir, 'argv')))
      expect(argvOf(lab)).toEqual(['--session-id', id, '-p', 'a prompt', '--model', 'opus'])
      for (const words of [
        ['run', '--detach', 'claude', '--resume', id, '-p', 'x'],
        ['resume', id.slice(0, 8), '--detach', '--', '-p', 'x'],
      ]) {
        const refused = await lab.hf(words, { env, cwd: lab.newDir() })
        expect([refused.code, refused.stderr]).toEqual([75, expect.stringContaining('work')])
      }
      const stolen = await lab.refused(['run', '--session', 'other', '--dir', lab.newDir(), '--detach', 'claude', '--resume', id, '-p', 'x'], { env })
      expect(stolen).toMatchObject({ id: 'conversation-owned', code: 75, holder: { session: 'work' } })
      await lab.ok(['stop', id.slice(0, 8)], { env })
      const other = await lab.refused(['run', '--session', 'other', '--dir', lab.newDir(), '--detach', 'claude', '--resume', id, '-p', 'x'], { env })
      expect(other).toMatchObject({ id: 'conversation-of-other-session', code: 64, message: expect.stringContaining('session work') as string })
      await lab.ok(['resume', id, '--detach', '--', '-p', 'more'], { env, cwd: lab.newDir() })
      const second = await lab.status('work')
      expect(second).toMatchObject({ epoch: 2, dir: lab.dir, nativeId: id })
      await until('its argv', () => argvOf(lab).includes('--resume'))
      expect(argvOf(lab)).toEqual(['--resume', id, '--model', 'opus', '-p', 'more'])
      expect(await lab.refused(['restart', 'work'], { env })).toMatchObject({ id: 'prompt-repeated', code: 64 })
    }),
  )

  test(
    'one that was never given a prompt has nothing to resume: it begins under the same id; what went to another session is said',
    withAgent(async (lab, env) => {
      const silent = { env: { ...env, FA_DO: 'silent' } }
      await lab.ok(['run', '--session', 's', '--dir', lab.dir, 'claude', '--model', 'opus'], silent)
      const { nativeId } = await lab.status('s')
      await lab.ok(['resume', 's'], silent)
      expect(argvOf(lab)).toEqual(['--session-id', nativeId, '--model', 'opus'])
      // Another session goes on with its conversation.
      spawnSync('mkfifo', [join(lab.agentDir, 'move.t')])
      await lab.ok(['run', '--session', 't', '--dir', lab.newDir(), '--detach', 'claude', '-p', 'x'], { env: { ...env, FA_DO: 'move' } })
      writeFileSync(join(lab.agentDir, 'move.t'), `${nativeId}\n`)
      await until('t to go on with it', async () => (await lab.status('t'))['nativeId'] === nativeId)
      const refused = await lab.hf(['resume', 's'], silent)
      expect([refused.code, refused.stderr]).toEqual([
        75,
        expect.stringMatching(/conversation of session s has gone on as session t.*session t is held/s),
      ])
      expect(JSON.parse(await lab.ok(['events', 's', '--json']))).toContainEqual(expect.objectContaining({ kind: 'moved' }))
    }),
  )

  test(
    'a prompt of any size comes by a file or stdin, as it is, and no shell ever sees it',
    withAgent(async (lab, env) => {
      const prompt = `$(touch ${lab.agentDir}/seen) \`id\` 'quotes' "and" ${'much '.repeat(60_000)}\n`
      const file = join(lab.agentDir, 'prompt.md')
      writeFileSync(file, prompt)
      const arrived = (): Promise<true> => until('the prompt', () => readOr(join(lab.agentDir, 'prompt')) === prompt)
      await lab.ok(['run', '--session', 'a', '--dir', lab.dir, '--prompt-file', file, 'claude'], { env: { ...env, FA_DO: 'exit' } })
      await arrived()
      writeFileSync(join(lab.agentDir, 'prompt'), '')
      await lab.ok(['resume', 'a', '--detach', '--prompt-file', '-'], { env: { ...env, FA_DO: 'exit' }, input: prompt })
      await lab.ok(['wait', 'a'], { env })
      await arrived()
      expect(existsSync(join(lab.agentDir, 'seen'))).toBe(false)
      for (const [args, code, id] of [
        [['run', '--prompt-file', '/nowhere', 'claude'], 66, 'prompt-unreadable'],
        [['run', '--prompt-file', lab.dir, 'claude'], 64, 'prompt-not-a-file'],
        [['run', '--prompt-file', '/dev/null', 'claude'], 64, 'prompt-empty'],
        [['run', '--prompt-file', file, '--', 'claude'], 64, 'prompt-unsupported'],
        [['run', '--detach', 'claude'], 64, 'agent-needs-terminal'],
        [['run', '--budget', '0', 'claude'], 64, 'option-value-invalid'],
        [['run', '--budget', '5', '--', 'sleep', '1'], 64, 'budget-unsupported'],
        [['run', 'codex'], 66, 'agent-not-installed'],
        [['resume', 'a', '--last'], 64, 'options-exclusive'],
        [['resume', '--last'], 66, 'session-none'],
      ] as const) {
        const refused = await lab.refused(args, { env: { ...env, PATH: `${lab.agentDir}/bin:/usr/bin:/bin` }, cwd: lab.agentDir })
        expect(refused, args.join(' ')).toMatchObject({ id, code })
      }
      const unnamed = await lab.hf(['resume'], { env, cwd: lab.agentDir })
      expect([unnamed.code, unnamed.stderr]).toEqual([64, expect.stringContaining('the newest')])
      await lab.ok(['resume', '--last', '--prompt-file', file], { env: { ...env, FA_DO: 'exit' } })
      expect(await lab.status('a')).toMatchObject({ epoch: 3, state: 'completed' })
    }),
  )

  verifies(
    'self',
    'one that moves to another conversation takes its session along; one that moves to where another lives is fenced off, and both are told',
    withAgent(async (lab, env) => {
      const move = { ...env, FA_DO: 'move' }
      const goes = { one: 0, two: 0 }
      /** What its tool call came to, there. */
      const go = (session: 'one' | 'two', id: string): Promise<string> => {
        writeFileSync(join(lab.agentDir, `move.${session}`), `${id}\n`)
        goes[session] += 1
        return until(
          `${session} to move to ${id}`,
          () =>
            readOr(join(lab.agentDir, `moved.${session}`)).split('\n')[goes[session]] !== undefined &&
            readOr(join(lab.agentDir, `moved.${session}`)).split('\n')[goes[session] - 1],
        )
      }
      for (const session of ['one', 'two']) {
        spawnSync('mkfifo', [join(lab.agentDir, `move.${session}`)])
        await lab.ok(['run', '--session', session, '--dir', lab.newDir(), '--detach', 'claude', '-p', 'x'], { env: move })
      }
      const was = String((await lab.status('one'))['nativeId'])
      const NEW = randomUUID()
      expect(await go('one', NEW)).toBe(`0 ${NEW}`)
      expect(await lab.status('one')).toMatchObject({ nativeId: NEW, state: 'running' })
      expect((await lab.status(was)).session).toBe('one')
      // The second goes where the first is.
      expect(await go('two', NEW)).toBe(`2 ${NEW}`)
      expect(readOr(join(lab.agentDir, 'heard'))).toMatch(/that of session one.*Holdfast: denied. Session two/s)
      expect(await lab.status('two')).toMatchObject({ state: 'running', note: expect.stringMatching(/fenced off, but no hooks.*session one/) })
      for (const session of ['one', 'two']) {
        const events = JSON.parse(await lab.ok(['events', session, '--json'])) as { kind: string }[]
        expect(events.filter(({ kind }) => kind === 'conflict')).toHaveLength(1)
      }
      // The first is told with its next tool call, which is allowed.
      expect(await go('one', NEW)).toBe(`0 ${NEW}`)
      expect(readOr(join(lab.agentDir, 'heard'))).toContain('session two has just gone to your conversation')
      expect(JSON.parse(await lab.ok(['stop', 'two', '--json']))).toMatchObject([{ state: 'stopped' }])
    }),
  )

  test(
    'what it burns is counted for each run and all runs, and --budget ends it; an orphan says what it burned unwatched',
    withAgent(async (lab, env) => {
      const run = ['--detach', '--dir', lab.dir, 'claude', '-p', 'x']
      await lab.ok(['run', '--session', 's', '--budget', '500', ...run], { env: { ...env, FA_DO: 'burn' } })
      await until('its budget to be spent', async () => (await lab.status('s')).state === 'stopped')
      const spent = await lab.status('s')
      expect(spent).toMatchObject({ endedBy: 'budget', reason: expect.stringMatching(/budget.*of 500 tokens/) })
      const total = (spent as unknown as Burned).usage.tokens?.total ?? 0
      expect(total).toBeGreaterThanOrEqual(500)
      await lab.ok(['resume', 's', '--detach', '--', '-p', 'x'], { env })
      const burned = async () => ((await lab.status('s')) as unknown as Burned).usage
      await until('the second run to burn', async () => (await burned()).tokens?.total === 110)
      expect(await burned()).toMatchObject({ sessionTokens: { total: total + 110 }, unwatched: null })
      expect(await lab.ok(['ls'])).toMatch(/TOKENS/)
      await lab.ok(['stop', 's'])
      await lab.ok(['resume', 's', '--detach', '--', '-p', 'x'], { env: { ...env, FA_DO: 'burn' } })
      await until('it to burn', async () => ((await burned()).tokens?.total ?? 0) >= 110)
      const { keeper } = await lab.status('s')
      process.kill(keeper, 'SIGKILL')
      await until('it to burn unwatched', async () => ((await burned()).unwatched?.tokens.total ?? 0) >= 220)
      expect(await lab.ok(['status', 's'])).toMatch(/unwatched.*tokens.*since/)
    }),
  )

  test(
    'a fork begins with a copy of what was burned before: that is not burned again, and ends nothing',
    withAgent(async (lab, env) => {
      const projects = join(lab.agentDir, 'config', 'projects', '-w')
      const [OLD, FORK] = [randomUUID(), randomUUID()]
      const usage = { input_tokens: 5000, output_tokens: 10 }
      const line = { type: 'assistant', sessionId: OLD, timestamp: '2026-01-01T00:00:00.000Z', message: { id: 'old', usage } }
      mkdirSync(projects, { recursive: true })
      writeFileSync(join(projects, `${OLD}.jsonl`), `${JSON.stringify(line)}\n`)
      const command = ['--', 'claude', '--resume', OLD, '--fork-session']
      await lab.ok(['run', '--session', 's', '--budget', '1000', '--detach', '--dir', lab.dir, ...command], {
        env: { ...env, FA_DO: 'fork', FA_ID: FORK },
      })
      const followed = join(lab.home, 'runs', String((await lab.status('s'))['run']), 'follow')
      await until('the timer to have counted', async () => readOr(followed).includes(FORK) || (await lab.status('s')).state !== 'running')
      expect(await lab.status('s')).toMatchObject({ state: 'running', nativeId: FORK, usage: { tokens: { total: 110 }, tokensWhole: true } })
      expect(JSON.parse(await lab.ok(['ls', '--json']))).toMatchObject([{ usage: { tokens: { total: 110 }, tokensWhole: false } }])
    }),
  )

  test(
    'an agent that it started by itself ends with it, and is on record as a task with what it burned',
    withAgent(async (lab, env) => {
      const REVIEW = randomUUID()
      await lab.ok(['run', '--session', 's', '--detach', '--dir', lab.dir, 'claude', '-p', 'x'], { env: { ...env, FA_DO: 'review', FA_ID: REVIEW } })
      const transcript = join(lab.agentDir, 'config', 'projects', '-w', `${REVIEW}.jsonl`)
      await until('the review to work', () => readOr(transcript).split('\n').length > 3)
      const { nativeId } = await lab.status('s')
      expect(nativeId).not.toBe(REVIEW)
      await lab.ok(['stop', 's'])
      const tasks = JSON.parse(await lab.ok(['task', 'ls', 's', '--json'])) as {
        session: string
        state: string
        usage: { tokens: { total: number } }
      }[]
      expect(tasks).toMatchObject([{ state: 'superseded', reason: expect.stringContaining('ended with it') as string }])
      expect(tasks[0]?.usage.tokens.total).toBeGreaterThanOrEqual(330)
    }),
  )

  test(
    'an id that is told only at the end is known, whoever records that end',
    withAgent(async (lab, env) => {
      mkdirSync(lab.home, { mode: 0o700, recursive: true })
      const late = join(lab.agentDir, 'bin', 'late-cli')
      writeFileSync(late, '#!/bin/sh\nread -r _ <"$FA_DIR/never"\necho \'{"session_id":"late-1234"}\'\n', { mode: 0o755 })
      writeFileSync(join(lab.home, 'config.toml'), '[harness.late]\ncommand = "late-cli"\noutput_id = "session_id"\n')
      await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--detach', 'late', 'go'], { env })
      const { keeper, run } = (await lab.status('s')) as unknown as { keeper: number; run: string }
      const timer = join(lab.home, 'runs', run, 'timer')
      // Nobody of ours is there to see it: its keeper is frozen, and its timer gone.
      process.kill(Number.parseInt(await until('its timer', () => readOr(timer) || null), 10), 'SIGTERM')
      process.kill(keeper, 'SIGSTOP')
      writeFileSync(join(lab.agentDir, 'never'), 'go\n')
      await until('its end', async () => {
        await lab.ok(['reconcile'])
        return (await lab.status('s')).state === 'completed'
      })
      expect(await lab.status('late-1234')).toMatchObject({ session: 's', harness: 'late', nativeId: 'late-1234' })
      if (isAlive(keeper)) process.kill(keeper, 'SIGCONT')
      await gone(keeper)
    }),
  )

  test(
    'one of your own in config.toml is spoken to as you say; a key that nobody knows is an error',
    withAgent(async (lab, env) => {
      mkdirSync(lab.home, { mode: 0o700, recursive: true })
      const done = { env: { ...env, FA_DO: 'exit', MINE_SESSION: 'x' } }
      copyFileSync(join(lab.agentDir, 'bin', 'claude'), join(lab.agentDir, 'bin', 'mine-cli'))
      writeFileSync(
        join(lab.home, 'config.toml'),
        `[harness.mine]\ncommand = "mine-cli"\npreset = ["--session-id", "{id}"]\nresume = ["--resume", "{id}", "{args}"]\nchooses = ["--resume", "--session-id"]\nid_after = ["--resume", "--session-id"]\nvariables = ["MINE_*"]\n`,
      )
      await lab.ok(['run', '--session', 'm', '--dir', lab.dir, 'mine', 'hello'], { env: { ...done.env, FA_DO: 'env' } })
      const { nativeId, harness } = await lab.status('m')
      expect([harness, nativeId]).toEqual(['mine', expect.stringMatching(UUID)])
      expect(readOr(join(lab.agentDir, 'environ'))).not.toContain('MINE_SESSION')
      await lab.ok(['resume', 'm'], done)
      expect(argvOf(lab)).toEqual(['--resume', nativeId])
      writeFileSync(join(lab.home, 'config.toml'), '[harness.mine]\ncommand = "mine-cli"\nspeed = 3\n')
      const refused = await lab.hf(['run', '--dir', lab.dir, 'mine'], done)
      expect(refused.code).not.toBe(0)
      expect(refused.stderr).toMatch(/speed/)
    }),
  )
})

verifies(
  'clean-env',
  'no variable of any harness reaches what is started: in the background, in the foreground, as a task',
  withAgent(async (lab, env) => {
    const names = SESSION_VARIABLES.map((name) => name.replace('*', 'X_Y'))
    const strangers = Object.fromEntries(names.map((name) => [name, 'a-stranger']))
    const kept = { ANTHROPIC_API_KEY: 'k', CODEX_HOME: '/x', CLAUDE_CODE_USE_BEDROCK: '1', OPENAI_BASE_URL: 'u', CLAUDE_CODE_MAX_OUTPUT_TOKENS: '5' }
    const caller = { env: { ...env, ...strangers, ...kept, OLDPWD: '/bait', FA_DO: 'env' } }
    const environ = join(lab.agentDir, 'environ')
    const look = async (how: string): Promise<void> => {
      await until(`${how}: its environment`, () => readOr(environ).includes('HOLDFAST_FENCE'))
      const given = readOr(environ)
      expect(
        given.split('\n').filter((line) => line.includes('a-stranger')),
        how,
      ).toEqual([])
      for (const [name, value] of Object.entries({ ...kept, PWD: lab.dir })) expect(given.split('\n'), how).toContain(`${name}=${value}`)
      for (const name of ['SESSION', 'RUN', 'EPOCH', 'FENCE', 'LINEAGE']) expect(given, how).toMatch(new RegExp(`^HOLDFAST_${name}=.`, 'm'))
      writeFileSync(environ, '')
    }
    await lab.ok(['run', '--session', 'a', '--dir', lab.dir, '--detach', '--', 'claude'], { ...caller, cwd: '/' })
    await look('detached')
    await lab.ok(['wait', 'a'])
    await lab.ok(['run', '--session', 'b', '--dir', lab.dir, '--', 'claude'], { ...caller, cwd: '/' })
    await look('foreground')
    // A task is started from inside, where its own agent's variables are.
    const words = names.map((name) => `${name}=a-stranger`).join(' ')
    const inside = `env ${words} ${resolve('bin/holdfast')} task start --name t -- claude; while [ ! -s ${environ} ]; do sleep 0.1; done`
    await lab.ok(['run', '--session', 'c', '--dir', lab.dir, '--', 'sh', '-c', inside], { env: { ...env, ...kept, FA_DO: 'env' }, cwd: '/' })
    await look('a task')
  }),
)
