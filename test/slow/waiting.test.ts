import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inHostedLab } from '../real/hosted.ts'
import { COMMAND, inLab, type Lab, readOr, startOf, until } from '../real/lab.ts'
import { obedient } from '../real/obedient.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const OTHER = '22222222-2222-4222-8222-222222222222'
type Seen = { session: string; run: string; pid: number; activity: { state: string; since: string | null; how: string } | null }
type Event = { kind: string; session: string; detail: Record<string, unknown> }

const seen = async (lab: Lab, session = 's'): Promise<Seen> => {
  const all = JSON.parse(await lab.ok(['ls', '--json'])) as Seen[]
  return all.find((one) => one.session === session) ?? expect.unreachable(session)
}
const activity = async (lab: Lab, session = 's') => (await seen(lab, session)).activity
const eventsOf = async (lab: Lab, kind: string, session = 's'): Promise<Record<string, unknown>[]> =>
  (JSON.parse(await lab.ok(['events', session, '--json'])) as Event[]).filter((event) => event.kind === kind).map(({ detail }) => detail)

test('an agent with hooks is busy, waiting or idle as they say, in ls and in events', () =>
  inLab(async (lab) => {
    const agents = obedient(lab)
    await agents.begin('s', lab.dir, '--session-id', ID)
    // Nobody has said anything: what is known is that something came out of it, or nothing did.
    expect((await activity(lab))?.how ?? 'output').toBe('output')
    const then = async (event: string, state: string): Promise<void> => {
      await agents.hook('s', event, ID)
      expect(await activity(lab), event).toMatchObject({ state, how: 'hook' })
    }
    await then('session-start', 'idle')
    await then('prompt', 'busy')
    await then('waiting', 'waiting')
    expect(await lab.ok(['ls'])).toMatch(/^s +waiting \d+s /m)
    expect(await lab.ok(['status', 's', '--verbose'])).toMatch(/activity +waiting \d+s \(its harness says so, by a hook\)/)
    await until('the question to be on record', async () => (await eventsOf(lab, 'activity')).at(-1)?.['state'] === 'waiting')
    await then('before-tool', 'busy')
    const since = (await activity(lab))?.since
    await then('before-tool', 'busy')
    expect((await activity(lab))?.since).toBe(since)
    await then('turn-end', 'idle')
    // One that it has started has its own turns.
    await agents.hook('s', 'before-tool', OTHER)
    await agents.tell('s', `printf '{"session_id":"${ID}","agent_id":"x"}' | sh "$FA_HOOK/hook.sh" claude before-tool`)
    expect(await activity(lab)).toMatchObject({ state: 'idle' })
    // A compaction, and whatever else begins again, is no end of a turn.
    await then('prompt', 'busy')
    await then('session-start', 'busy')
    expect((await eventsOf(lab, 'activity')).map(({ state, before }) => [state, before])).toEqual([
      ['idle', undefined],
      ['busy', 'idle'],
      ['waiting', 'busy'],
      // That it went on with a tool, nobody was there to record.
      ['idle', 'waiting'],
      ['busy', 'idle'],
    ])
    expect(statSync(join(lab.home, 'runs', (await seen(lab)).run, 'activity')).mode & 0o777).toBe(0o600)
    await lab.ok(['stop', 's'])
    expect(JSON.parse(await lab.ok(['status', 's', '--json']))).toMatchObject({ state: 'stopped', activity: null })
  }))

test('a harness that says itself what it is at is believed of that very process, and where it spoke later than a hook', () =>
  inLab(async (lab) => {
    const agents = obedient(lab)
    await agents.begin('s', lab.dir, '--session-id', ID)
    const { pid } = await seen(lab)
    const says = (status: string, statusUpdatedAt: number, more: object = {}): void =>
      writeFileSync(
        join(agents.env['CLAUDE_CONFIG_DIR'] ?? '', 'sessions', `${pid}.json`),
        JSON.stringify({ pid, sessionId: ID, cwd: lab.dir, kind: 'interactive', procStart: startOf(pid), status, statusUpdatedAt, ...more }),
      )
    const now = Date.now()
    for (const [status, state] of Object.entries({ busy: 'busy', waiting: 'waiting', idle: 'idle', shell: 'idle' })) {
      says(status, now)
      expect(await activity(lab), status).toEqual({ state, since: new Date(now).toISOString(), how: 'registry' })
    }
    // What another process with this pid said, or in a word that nobody knows, is nothing.
    says('waiting', now, { procStart: '1' })
    expect((await activity(lab))?.how ?? 'output').toBe('output')
    says('dreaming', now)
    expect((await activity(lab))?.how ?? 'output').toBe('output')
    await agents.hook('s', 'prompt', ID)
    says('idle', now)
    expect(await activity(lab)).toMatchObject({ state: 'busy', how: 'hook' })
    // Somebody interrupted the turn: no hook tells of that.
    says('idle', Date.now() + 1000)
    expect(await activity(lab)).toMatchObject({ state: 'idle', how: 'registry' })
    process.kill(pid, 'SIGSTOP')
    try {
      expect(await until('it to be frozen', async () => ((await activity(lab)) === null ? 'frozen' : null))).toBe('frozen')
    } finally {
      process.kill(pid, 'SIGCONT')
    }
  }))

test('who is refused because of a live owner is on its record, once in a while; a mistake in asking is not', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', 'sleep', '600'))
    for (let again = 0; again < 2; again++) {
      expect((await lab.hf(lab.detached('s', 'sleep', '601'))).code).toBe(75)
      expect((await lab.hf(lab.detached('other', 'sleep', '602'))).code).toBe(75)
    }
    expect((await lab.hf(['run', '--session', 's', '--nonsense', '--', 'sleep', '1'])).code).toBe(64)
    expect(await eventsOf(lab, 'refused')).toEqual([
      { wanted: 'session', dir: lab.dir, pid: expect.any(Number), command: 'sleep', user: expect.stringMatching(/.@./) },
      { wanted: 'directory', dir: lab.dir, pid: expect.any(Number), command: 'sleep', user: expect.stringMatching(/.@./) },
    ])
    expect(JSON.parse(await lab.ok(['status', 's', '--json']))).toMatchObject({ state: 'running' })
  }))

/** The daemon alone, until somebody ends it. */
async function withDaemon(lab: Lab, env: NodeJS.ProcessEnv, body: (log: () => string) => Promise<void>): Promise<void> {
  const daemon: ChildProcess = spawn(COMMAND, ['daemon', 'run'], { env: { ...lab.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  daemon.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const ended = new Promise<void>((done) => daemon.once('exit', () => done()))
  try {
    await until('the daemon to have looked', () => existsSync(join(lab.home, 'daemon', 'notified')))
    await body(() => log)
  } finally {
    daemon.kill('SIGTERM')
    await ended
  }
}

type Told = { kind: string; session: string | null; title: string; text: string; env: string; inherited: string }

test('with a daemon, a command of the user is told what he waits for, each once, and nothing that he did himself', () =>
  inLab(async (lab) => {
    const agents = obedient(lab)
    const told = join(lab.agentDir, 'told')
    mkdirSync(lab.home, { mode: 0o700 })
    const script = `rest=$(cut -c2-); printf '{"env":"%s %s","inherited":"%s",%s\\n' "$HOLDFAST_EVENT" "$HOLDFAST_SESSION" "$HOLDFAST_RUN" "$rest" >>"$0"`
    writeFileSync(
      join(lab.home, 'config.toml'),
      `[notify]\ndesktop = false\ncommand = ${JSON.stringify(['sh', '-c', script, told])}\non = ["input", "finished", "refused", "orphan"]\n`,
    )
    expect(await lab.ok(['doctor', '--verbose'])).toMatch(
      /notifications: told by command while the daemon runs; not by desktop: config.toml has turned it off/,
    )
    const heard = (): Told[] =>
      readOr(told)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Told)
    const hears = (kind: string, session: string): Promise<Told> =>
      until(`to be told ${kind} of ${session}`, () => heard().find((one) => one.kind === kind && one.session === session))
    // What happened before anybody looked is not told.
    await lab.ok(['run', '--session', 'before', '--dir', lab.newDir(), '--detach', '--', 'true'])
    await lab.ok(['wait', 'before'])
    const env = { HOLDFAST_RUN: 'r000000000000' }
    await withDaemon(lab, env, async () => {
      await agents.begin('s', lab.dir, '--session-id', ID)
      await agents.hook('s', 'prompt', ID)
      await agents.hook('s', 'waiting', ID)
      expect(await hears('input', 's')).toMatchObject({ title: 's needs an answer', env: 'input s', inherited: '' })
      // The daemon records what no hook could.
      await agents.hook('s', 'before-tool', ID)
      await until('the daemon to see it go on', async () => (await eventsOf(lab, 'activity')).at(-1)?.['state'] === 'busy')
      expect((await lab.hf(lab.detached('other', 'true'))).code).toBe(75)
      expect((await hears('refused', 's')).text).toMatch(/^true \(pid \d+, .+@.+\) wanted its directory, and was refused$/)
      await lab.ok(['run', '--session', 'fails', '--dir', lab.newDir(), '--detach', '--', 'sh', '-c', 'exit 3'])
      expect(await hears('finished', 'fails')).toMatchObject({ title: 'fails ended: failed' })
      // A task ends with its session, and whoever stops that knows.
      await agents.inside('s', 'task', 'start', '--name', 'review', '--', 'sleep', '600')
      await lab.ok(['stop', 's'])
      await agents.begin('t', lab.newDir(), '--session-id', OTHER)
      await agents.inside('t', 'run', '--session', 'inner', '--detach', '--dir', lab.newDir(), '--', 'sleep', '600')
      process.kill((await seen(lab, 't')).pid, 'SIGKILL')
      expect((await hears('orphan', 'inner')).text).toMatch(/^the session it was started in/)
      expect(await hears('finished', 't')).toMatchObject({ title: 't ended: failed' })
    })
    const all = heard()
    expect(all.map(({ kind, session }) => `${kind} ${session}`).sort()).toEqual([
      'finished fails',
      'finished t',
      'input s',
      'orphan inner',
      'refused s',
    ])
    const notified = join(lab.home, 'daemon', 'notified')
    expect(statSync(notified).mode & 0o777).toBe(0o600)
    // A new daemon repeats nothing, and tells what happened meanwhile.
    await lab.ok(['run', '--session', 'meanwhile', '--dir', lab.newDir(), '--detach', '--', 'true'])
    await lab.ok(['wait', 'meanwhile'])
    await withDaemon(lab, env, async () => {
      await hears('finished', 'meanwhile')
      await lab.ok(['run', '--session', 'meanwhile', '--dir', lab.newDir(), '--detach', '--', 'sh', '-c', 'exit 4'])
      // So soon after the first it has to wait.
      await until('it to be held back', () => JSON.parse(readOr(notified)).history.later.length === 1)
    })
    expect(heard()).toHaveLength(all.length + 1)
    // And whoever comes next tells it.
    await withDaemon(lab, env, async () => {
      await until('to be told what had to wait', () => heard().length > all.length + 1, 120_000)
    })
    expect(heard().slice(all.length + 1)).toMatchObject([{ kind: 'finished', session: 'meanwhile', title: 'meanwhile ended: failed' }])
  }))

test('a tmux server that dies is nobody’s wish: a person is told of those that it took along, and of their tasks', () =>
  inHostedLab(async (lab) => {
    const told = join(lab.agentDir, 'told')
    mkdirSync(lab.home, { mode: 0o700 })
    writeFileSync(
      join(lab.home, 'config.toml'),
      `[notify]\ndesktop = false\ncommand = ["sh", "-c", "echo $HOLDFAST_EVENT $HOLDFAST_SESSION >>'${told}'"]\n`,
    )
    await withDaemon(lab, {}, async () => {
      await lab.ok(lab.hosted('s', 'sh', '-c', `"${COMMAND}" task start --name review -- sleep 600; exec sleep 600`))
      await until('its task to run', async () => (JSON.parse(await lab.ok(['ls', '--json'])) as Seen[]).some(({ session }) => session === 's.review'))
      process.kill(lab.server() ?? expect.unreachable('no server'), 'SIGKILL')
      await until('to be told of both', () => readOr(told).trim().split('\n').length >= 2)
    })
    expect(readOr(told).trim().split('\n').toSorted()).toEqual(['finished s', 'orphan s.review'])
  }))

test('a bell rings at the terminal that a background agent was started from', () =>
  inLab(async (lab) => {
    const [screen, go] = [join(lab.agentDir, 'screen'), join(lab.agentDir, 'go')]
    mkdirSync(lab.home, { mode: 0o700 })
    writeFileSync(join(lab.home, 'config.toml'), '[notify]\ndesktop = false\nbell = true\n')
    await withDaemon(lab, {}, async () => {
      const waits = `sh -c 'until [ -e "${go}" ]; do sleep 0.05; done'`
      const script = `"${COMMAND}" run --session s --detach -- ${waits}; exec sleep 600`
      // It has a terminal of its own, and writes down all that comes to it.
      const terminal = spawn('script', ['-qfc', script, screen], { cwd: lab.dir, env: lab.env, stdio: 'ignore' })
      const closed = new Promise((done) => terminal.once('close', done))
      try {
        await until('its start', () => readOr(screen).includes('started s'))
        expect(readOr(screen)).not.toContain('\x07')
        writeFileSync(go, '')
        await until('the bell', () => readOr(screen).includes('\x07'))
      } finally {
        terminal.kill()
        await closed
      }
    })
  }))

test('a way that fails is told in health, is tried again, and holds up no other', () =>
  inLab(async (lab) => {
    mkdirSync(lab.home, { mode: 0o700 })
    const bin = lab.newDir()
    const shown = join(lab.agentDir, 'shown')
    writeFileSync(join(bin, 'notify-send'), `#!/bin/sh\nprintf '%s|' "$@" >>'${shown}'; echo >>'${shown}'\n`, { mode: 0o755 })
    writeFileSync(join(lab.home, 'config.toml'), '[notify]\ncommand = ["sh", "-c", "exit 7"]\n')
    const env = { PATH: `${bin}:${process.env['PATH']}`, DISPLAY: ':0' }
    await withDaemon(lab, env, async (log) => {
      await lab.ok([
        'run',
        '--session',
        'one',
        '--name',
        'a<b>&c'.replaceAll(/[<>&]/g, '-'),
        '--dir',
        lab.newDir(),
        '--detach',
        '--',
        'sh',
        '-c',
        'exit 3',
      ])
      await until('the desktop to be told', () => readOr(shown).includes('a-b--c ended: failed'))
      await until('the failure to be told', () => log().includes('notify-command failed: sh ended with code 7'))
      await lab.ok(['run', '--session', 'two', '--dir', lab.newDir(), '--detach', '--', 'true'])
      await until('the desktop to be told again', () => readOr(shown).includes('two ended: completed'))
      // The first one is given up after some tries, so that the second has its turn.
      await until('it to be tried again', () => (log().match(/notify-command failed: sh ended with code 7/g) ?? []).length >= 4, 120_000)
      expect(readOr(shown)).toMatch(/^--app-name=holdfast\|--\|a-b--c ended: failed\|exit code 3\|\n/)
      expect(readOr(shown).trim().split('\n')).toHaveLength(2)
    })
  }))
