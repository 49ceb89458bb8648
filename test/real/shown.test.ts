import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { inLab, isAlive, type Lab, readOr, until } from './lab.ts'
import { type Obedient, obedient } from './obedient.ts'
import { program, register, stranger } from './strangers.ts'

type Shown = {
  readonly lab: Lab
  readonly agent: Obedient
  readonly config: string
  /** A conversation that lies on disk. */
  conversation(): string
  /** A script that starts the stand-in without a word of it on the command line. */
  script(name: string, text: string): string
}

/** A lab with stand-ins for claude. No hook and no daemon tells anything: only what they show is there to be seen. */
const inShown = (body: (shown: Shown) => Promise<void>): Promise<void> =>
  inLab(async (lab) => {
    const agent = obedient(lab)
    const config = join(lab.agentDir, 'config')
    const project = join(config, 'projects', '-w')
    spawnSync('mkfifo', [join(lab.agentDir, 'never')])
    mkdirSync(project, { recursive: true })
    await body({
      lab,
      agent,
      config,
      conversation() {
        const id = randomUUID()
        writeFileSync(join(project, `${id}.jsonl`), `${JSON.stringify({ type: 'user', sessionId: id, cwd: lab.dir })}\n`)
        return id
      },
      script(name, text) {
        const path = join(lab.agentDir, name)
        writeFileSync(path, `#!/bin/sh\n${text}\n`)
        chmodSync(path, 0o755)
        return path
      },
    })
  })

/** The run of a session, without a look at anybody. */
const runOf = (lab: Lab, session: string): string =>
  readdirSync(join(lab.home, 'runs')).find((run) => readOr(join(lab.home, 'runs', run, 'run.json')).includes(`"session":"${session}"`)) ?? '-'
const isFenced = (lab: Lab, session: string): boolean => existsSync(join(lab.home, 'runs', runOf(lab, session), 'retired'))
const conflicts = async (lab: Lab, session: string): Promise<number> =>
  (JSON.parse(await lab.ok(['events', session, '--json'])) as { kind: string }[]).filter(({ kind }) => kind === 'conflict').length

verifies('one-owner', 'a start whose words name a live conversation is refused, whatever wraps it', () =>
  inShown(async ({ lab, agent, conversation }) => {
    const X = conversation()
    await agent.begin('first', lab.dir, '--resume', X)
    for (const words of [
      ['sh', '-c', `exec claude --resume ${X}`],
      ['timeout', '60', 'nice', 'env', 'A=1', 'claude', '--resume', X],
      ['npx', '--yes', '@anthropic-ai/claude-code', '--resume', X],
      ['sh', '-c', `codex & claude -r '${X}'; wait`],
    ]) {
      const refused = await lab.refused(['run', '--dir', lab.newDir(), '--detach', '--', ...words], { env: agent.env })
      expect(refused, words.join(' ')).toMatchObject({ code: 75, message: expect.stringContaining('session first') as string })
    }
    expect(await lab.ok(['ls', '--json'])).not.toContain('"session":"claude')
  }),
)

verifies('one-owner', 'a second writer behind a script is fenced at the first look, both are told, and a stop or a takeover settles it', () =>
  inShown(async ({ lab, agent, conversation, script }) => {
    const X = conversation()
    await agent.begin('first', lab.dir, '--resume', X)
    const { pid } = await lab.status('first')
    const begin = (session: string, path: string) =>
      lab.ok(['run', '--session', session, '--dir', lab.newDir(), '--detach', '--', path], { env: { ...agent.env, FA_DO: 'wait' } })
    const inside = script('inside', `claude --resume ${X}; true`)
    const instead = script('instead', `exec claude --resume ${X}`)
    await lab.ok(['run', '--session', 'quiet', '--dir', lab.newDir(), '--detach', '--', 'sleep', '1000'])
    for (const [session, path, look] of [
      ['one', inside, ['ls']],
      ['two', instead, ['status', 'first']],
      ['three', inside, ['reconcile']],
      ['four', inside, ['siblings', '--session', 'quiet']],
    ] as const) {
      await begin(session, path)
      await until('its agent', () => readOr(join(lab.agentDir, 'argv')).includes(X))
      writeFileSync(join(lab.agentDir, 'argv'), '')
      expect(isFenced(lab, session)).toBe(false)
      await lab.ok(look, { env: agent.env })
      expect(isFenced(lab, session), look.join(' ')).toBe(true)
      expect(await lab.status(session)).toMatchObject({ state: 'running', note: expect.stringContaining('which session first has') as string })
      expect([await conflicts(lab, session), isFenced(lab, 'first')]).toEqual([1, false])
    }
    expect(readOr(join(lab.home, 'runs', runOf(lab, 'first'), 'notice', `conflict-${runOf(lab, 'one')}`))).toContain('session one has just gone')
    await lab.ok(['stop', 'one'])
    expect(isAlive(pid)).toBe(true)
    const others = await Promise.all(['two', 'three', 'four'].map(async (session) => (await lab.status(session)).pid))
    await lab.ok(['resume', 'first', '--takeover', '--detach', '--', '-p', 'x'], { env: { ...agent.env, FA_DO: 'wait' } })
    expect([pid, ...others].map(isAlive)).toEqual([false, false, false, false])
    expect(await lab.status('two')).toMatchObject({ state: 'superseded' })
  }),
)

verifies('self', 'an agent that went to another conversation is found by that one at the next read, whichever verb it is', () =>
  inShown(async ({ lab, agent, conversation, config }) => {
    const { env } = agent
    const [X, Y, Z] = [conversation(), conversation(), conversation()]
    await agent.begin('other', lab.newDir())
    await agent.begin('a', lab.dir, '--resume', X)
    const { pid } = await lab.status('a')
    // Each verb is the first that looks.
    register(config, pid, Y)
    expect(JSON.parse(await agent.inside('a', 'whoami', '--json'))).toMatchObject({ session: 'a', nativeId: Y })
    register(config, pid, Z)
    await lab.ok(['message', Z, 'hello'], { env })
    expect(await agent.inside('a', 'inbox')).toContain('hello')
    register(config, pid, Y)
    expect(JSON.parse(await lab.ok(['siblings', '--session', 'other', '--json'], { env }))).toMatchObject([{ session: 'a', nativeId: Y }])
    register(config, pid, X)
    expect(JSON.parse(await lab.ok(['ls', '--json'], { env }))).toContainEqual(expect.objectContaining({ session: 'a', nativeId: X }))
    register(config, pid, Y)
    expect(await lab.refused(['rebind', '--session', 'other', '--to', Y], { env })).toMatchObject({ code: 75 })
    register(config, pid, Z)
    expect(await lab.refused(['resume', Z, '--detach', '--', '-p', 'x'], { env })).toMatchObject({ code: 75 })
    // Nobody carries X now.
    await lab.ok(['resume', X, '--dir', lab.newDir(), '--detach', '--', '-p', 'x'], { env: { ...env, FA_DO: 'wait' } })
    expect(await lab.ok(['ls', '--json'], { env })).toContain(`"nativeId":"${X}"`)
  }),
)

verifies('one-owner', 'two live sessions that came to one conversation are told apart by the first read of either', () =>
  inShown(async ({ lab, agent, conversation, config }) => {
    for (const [elder, younger, read] of [
      ['a', 'b', ['status', 'b']],
      ['c', 'd', ['message', 'c', 'hi']],
      ['e', 'f', ['logs', 'e']],
    ] as const) {
      const Z = conversation()
      await agent.begin(elder, lab.dir, '--resume', conversation())
      await agent.begin(younger, lab.newDir(), '--resume', conversation())
      const pids = [(await lab.status(elder)).pid, (await lab.status(younger)).pid]
      for (const pid of pids) register(config, pid, Z)
      await lab.ok(read, { env: agent.env })
      expect([isFenced(lab, elder), isFenced(lab, younger)], read.join(' ')).toEqual([false, true])
    }
  }),
)

verifies('one-owner', 'a session that comes to a conversation which another one has just left is not fenced', () =>
  inShown(async ({ lab, agent, conversation, config }) => {
    const [X, Y] = [conversation(), conversation()]
    await agent.begin('b', lab.newDir(), '--resume', Y)
    await agent.begin('a', lab.dir, '--resume', X)
    const [a, b] = [await lab.status('a'), await lab.status('b')]
    // They change places.
    register(config, a.pid, Y)
    register(config, b.pid, X)
    const seen = JSON.parse(await lab.ok(['ls', '--json'], { env: agent.env })) as { session: string; nativeId: string }[]
    expect(seen.map(({ session, nativeId }) => [session, nativeId]).toSorted()).toEqual([
      ['a', Y],
      ['b', X],
    ])
    for (const session of ['a', 'b']) expect([isFenced(lab, session), await conflicts(lab, session)]).toEqual([false, 0])
  }),
)

verifies('one-owner', 'Every Code that somebody started by hand is known by the rollout that it writes', () =>
  inLab(async (lab) => {
    const X = randomUUID()
    const home = lab.newDir()
    const day = join(home, 'sessions', '2026', '11', '19')
    mkdirSync(day, { recursive: true })
    const rollout = join(day, `rollout-2026-11-19T00-00-00-${X}.jsonl`)
    writeFileSync(rollout, `${JSON.stringify({ payload: { id: X, cwd: lab.dir } })}\n`)
    const coder = program(lab, 'coder', '/bin/bash')
    const pipe = join(lab.agentDir, 'never')
    const env = { CODE_HOME: home }
    await stranger(lab.newDir(), coder, ['-c', `mkfifo ${pipe}; exec 3>>${rollout}; read x <>${pipe}`], async ({ pid }) => {
      await until('its rollout', () => existsSync(pipe))
      const entry = async () =>
        (JSON.parse(await lab.ok(['ls', '--unmanaged', '--json'], { env })) as { pid: number }[]).find((one) => one.pid === pid)
      await until('its id', async () => ((await entry()) as { nativeId?: string } | undefined)?.nativeId === X)
      const refused = await lab.refused(['run', '--dir', lab.dir, '--detach', '--', coder, 'resume', X], { env })
      expect(refused).toMatchObject({ id: 'conversation-in-use', code: 75 })
    })
  }),
)
