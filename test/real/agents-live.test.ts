import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { inLab, isAlive, type Lab, readOr, until } from './lab.ts'

/** A lab with a stand-in for each of these agents on its PATH, and a home for them that holds nothing. */
const withAgents = (names: readonly string[], body: (lab: Lab, env: NodeJS.ProcessEnv) => Promise<void>): (() => Promise<void>) => {
  return () =>
    inLab(async (lab) => {
      const bin = join(lab.agentDir, 'bin')
      mkdirSync(bin)
      for (const name of names) {
        copyFileSync('test/fixtures/idle-agent.sh', join(bin, name))
        chmodSync(join(bin, name), 0o755)
      }
      writeFileSync(join(lab.agentDir, 'prompt'), 'say hello\n')
      await body(lab, { PATH: `${bin}:${process.env['PATH']}`, HOME: lab.agentDir, FA_DIR: lab.agentDir })
    })
}
const promptOf = (lab: Lab): string[] => ['--prompt-file', join(lab.agentDir, 'prompt')]
/** A live session of it, without a terminal. */
async function begun(lab: Lab, env: NodeJS.ProcessEnv, name: string, session: string): Promise<number> {
  await lab.ok(['run', '-d', '--session', session, '--dir', lab.dir, ...promptOf(lab), name], { env })
  await until(`${name} to be up`, () => existsSync(join(lab.agentDir, `up.${name}`)))
  return (await lab.status(session)).pid
}

verifies(
  'one-owner',
  'who lives is told first: a session whose conversation is not known is held, and no takeover ends it for nothing',
  withAgents(['goose'], async (lab, env) => {
    const pid = await begun(lab, env, 'goose', 's')
    for (const more of [[], ['-d'], ['-d', ...promptOf(lab)], ['--wait', '100ms', '-d']])
      expect(await lab.refused(['resume', 's', ...more], { env }), more.join(' ')).toMatchObject({ id: 'owner-alive', code: 75 })
    const takeover = await lab.refused(['resume', 's', '-d', '--takeover', ...promptOf(lab)], { env })
    expect(takeover).toMatchObject({ id: 'takeover-without-conversation', code: 75, hint: expect.stringContaining('begin anew') as string })
    expect(isAlive(pid)).toBe(true)
    await lab.ok(['stop', 's'], { env })
    const over = await lab.refused(['resume', 's', '-d', ...promptOf(lab)], { env })
    expect(over).toMatchObject({ id: 'conversation-unknown', code: 66, hint: expect.not.stringContaining('hooks install') as string })
  }),
)

verifies(
  'one-owner',
  'an agent that cannot resume by an id is refused before anybody is ended, and no new conversation begins in its place',
  withAgents(['cn'], async (lab, env) => {
    const pid = await begun(lab, env, 'cn', 's')
    const takeover = await lab.refused(['resume', 's', '-d', '--takeover', ...promptOf(lab)], { env })
    expect(takeover).toMatchObject({ id: 'takeover-without-conversation', code: 75 })
    expect(isAlive(pid)).toBe(true)
    await lab.ok(['stop', 's'], { env })
    expect(await lab.refused(['resume', 's', '-d', ...promptOf(lab)], { env })).toMatchObject({ id: 'resume-unsupported', code: 64 })
    expect(await lab.status('s')).toMatchObject({ epoch: 1 })
  }),
)

test(
  'an agent that takes its prompt as an argument gets it detached, too',
  withAgents(['kimi', 'cline'], async (lab, env) => {
    for (const name of ['kimi', 'cline']) {
      await begun(lab, env, name, name)
      expect(readOr(join(lab.agentDir, `argv.${name}`))).toContain('say hello')
      await lab.ok(['stop', name], { env })
    }
  }),
)

test(
  "an agent's own --json does not turn our refusals into JSON, and ours before it does",
  withAgents(['codex'], async (lab, env) => {
    const args = ['run', '-d', '--dir', join(lab.dir, 'missing'), 'codex', 'exec', '--json', 'x']
    expect((await lab.hf(args, { env })).stderr).toMatch(/^holdfast: /)
    for (const ours of [
      ['--json', ...args],
      ['run', '--json', ...args.slice(1)],
    ])
      expect(JSON.parse((await lab.hf(ours, { env })).stderr)).toMatchObject({ id: 'directory-missing' })
  }),
)

test('with an unusable store a program reads one object on stderr, and no lines before it', () =>
  inLab(async (lab) => {
    mkdirSync(lab.home, { mode: 0o700 })
    writeFileSync(join(lab.home, 'holdfast.db'), 'not a database, and long enough to be looked at\n'.repeat(100))
    for (const [args, id, stdout] of [
      [['ls'], 'store-not-sqlite', '[]\n'],
      [['status', 's'], 'session-unknown-without-store', ''],
      [['stop', 's'], 'session-unknown-without-store', ''],
      [['stop', '--all'], 'store-not-sqlite', '[]\n'],
    ] as const) {
      const told = await lab.hf([...args, '--json'])
      expect(JSON.parse(told.stderr), args.join(' ')).toMatchObject({
        id,
        code: 69,
        message: expect.stringContaining('not a SQLite database') as string,
      })
      expect(told.stdout).toBe(stdout)
    }
  }))
