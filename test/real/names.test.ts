import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { COMMAND, inLab, type Lab, readOr, until } from './lab.ts'
import { onTerminal } from './terminal.ts'

const [A, B] = [`aaaaaaaa${randomUUID().slice(8)}`, `bbbbbbbb${randomUUID().slice(8)}`]

/** A lab with a stand-in for claude on its PATH, and conversations on its disk. */
const withAgent = (body: (lab: Lab, env: NodeJS.ProcessEnv) => Promise<void>): Promise<void> =>
  inLab(async (lab) => {
    const bin = join(lab.agentDir, 'bin')
    mkdirSync(bin)
    copyFileSync('test/fixtures/claude', join(bin, 'claude'))
    chmodSync(join(bin, 'claude'), 0o755)
    spawnSync('mkfifo', [join(lab.agentDir, 'never')])
    const config = join(lab.agentDir, 'config')
    mkdirSync(join(config, 'projects', '-w'), { recursive: true })
    for (const id of [A, B]) writeFileSync(join(config, 'projects', '-w', `${id}.jsonl`), `{"sessionId":"${id}","cwd":"${lab.dir}"}\n`)
    await body(lab, {
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: lab.agentDir,
      CLAUDE_CONFIG_DIR: config,
      FA_HOOK: resolve('dist'),
      FA_DO: 'wait',
    })
  })

const argvOf = (lab: Lab): string => readOr(join(lab.agentDir, 'argv')).trimEnd().replaceAll('\n', ' ')

verifies(
  'named',
  'the beginning of a conversation’s id goes on with that one; a session’s conversation is left only by --new, or by a person who says so',
  () =>
    withAgent(async (lab, env) => {
      const ended = async (words: readonly string[]): Promise<string> => {
        writeFileSync(join(lab.agentDir, 'argv'), '')
        await lab.ok(words, { env })
        const argv = await until('its argv', () => argvOf(lab))
        await lab.ok(['stop', 'api'], { env })
        return argv
      }
      const begin = ['run', '--session', 'api', '--detach', 'claude', '-p', 'x']
      for (const id of [A, B]) await ended([...begin.slice(0, 3), '--detach', 'claude', '--resume', id, '-p', 'x'])
      expect(await ended(['resume', A.slice(0, 8), '--detach', '--', '-p', 'y'])).toContain(`--resume ${A}`)
      expect(await ended(['resume', B.slice(0, 8), '--detach', '--', '-p', 'y'])).toContain(`--resume ${B}`)

      expect(await lab.refused(begin, { env })).toMatchObject({ id: 'conversation-would-be-left', code: 64, message: expect.stringContaining(B) })
      expect(await lab.status('api')).toMatchObject({ epoch: 4, nativeId: B })
      await onTerminal(
        lab,
        [
          'sh',
          '-c',
          `env PATH='${env['PATH']}' HOME='${lab.agentDir}' CLAUDE_CONFIG_DIR='${env['CLAUDE_CONFIG_DIR']}' FA_DO=wait FA_DIR='${lab.agentDir}' ${COMMAND} run --session api claude; exec sh`,
        ],
        async (terminal) => {
          await terminal.sees(B)
          await terminal.sees('begin a [n]ew conversation, or [l]eave?')
          terminal.type(['l', 'Enter'])
          await terminal.sees(/\$|#/)
        },
      )
      expect(await lab.status('api')).toMatchObject({ epoch: 4, nativeId: B })
      expect(await ended([...begin.slice(0, 3), '--new', '--detach', 'claude', '-p', 'x'])).toContain('--session-id')
      expect(await ended(['resume', B.slice(0, 8), '--detach', '--', '-p', 'y'])).toContain(`--resume ${B}`)
    }),
)

verifies('named', 'words that people know work or are suggested, and a list for people is short and leaves nothing out in silence', () =>
  inLab(async (lab) => {
    for (const number of [1, 2, 3]) await lab.ok(['run', '--name', `s${number}`, '--dir', lab.dir, '--', 'true'])
    expect(await lab.hf(['run', '--name', 'bad', '--dir', lab.dir, '--', '/nonexistent/agent'])).toMatchObject({ code: 127 })
    const list = await lab.ok(['ps', '--all', '-n', '2'])
    expect(list).toMatch(/s3 .*\ns2 .*\n\n1 more ended session: holdfast ls --all -n 3\n1 session never started/)
    expect(list).not.toMatch(/bad/)
    expect(JSON.parse(await lab.ok(['ls', '--all', '--json']))).toHaveLength(4)
    expect(await lab.ok(['list'])).toContain('no sessions')

    const hints: readonly (readonly [line: string, id: string, hint: RegExp])[] = [
      ['run cluade', 'agent-unknown', /did you mean claude\?/],
      ['run --nmae x claude', 'option-unknown', /did you mean --name\?/],
      ['resume s1 --name x', 'option-unknown', /run.* take it/],
      ['status bda', 'session-unknown', /did you mean bad\?/],
      ['inspect s1', 'verb-unknown', /did you mean status\?/],
      ['hooks install cluade', 'hooks-unsupported', /did you mean claude\?/],
    ]
    for (const [line, id, hint] of hints) expect(await lab.refused(line.split(' ')), line).toMatchObject({ id, hint: expect.stringMatching(hint) })
    // A mistyped agent has left no session.
    expect(JSON.parse(await lab.ok(['ls', '--all', '--json']))).toHaveLength(4)
  }),
)

verifies('named', 'an ended session is forgotten, and its name used again; a live or unknown one, and a worktree with work, are refused', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('api', 'sleep', '1000'))
    expect(await lab.refused(['rm', 'api'])).toMatchObject({ id: 'owner-alive', code: 75, hint: 'holdfast stop api ends it' })
    expect(await lab.refused(['rm', 'nobody'])).toMatchObject({ id: 'session-unknown', code: 66 })
    await lab.ok(['stop', 'api'])
    await lab.ok(['run', '--name', 'other', '--dir', lab.dir, '--', 'true'])
    // One that is refused leaves the others as they are.
    expect(await lab.refused(['rm', 'api', 'nobody'])).toMatchObject({ code: 66 })
    expect(await lab.status('api')).toMatchObject({ state: 'stopped' })
    expect(readdirSync(join(lab.home, 'runs'))).toHaveLength(2)
    expect(await lab.ok(['rm', 'api'])).toBe('session api is forgotten, with 1 run\n')
    expect(readdirSync(join(lab.home, 'runs'))).toHaveLength(1)
    expect(JSON.parse(await lab.ok(['events', '--json']))).toEqual(
      expect.not.arrayContaining([expect.objectContaining({ session: 'api' }) as unknown]),
    )
    expect(await lab.refused(['status', 'api'])).toMatchObject({ code: 66 })
    await lab.ok(['run', '--name', 'api', '--dir', lab.dir, '--', 'true'])
    expect(await lab.status('api')).toMatchObject({ epoch: 1, state: 'completed' })

    expect(await lab.refused(['rename', 'api', 'other'])).toMatchObject({ id: 'name-taken', code: 64, hint: 'holdfast rm other forgets that one' })
    expect(await lab.ok(['rename', 'api', 'old'])).toBe('session api is old from now on\n')
    expect(await lab.refused(['status', 'api'])).toMatchObject({ code: 66 })
    await lab.ok(lab.detached('api', 'sleep', '1000'))
    expect(await lab.ok(['mv', 'api', 'new', '--json'])).toContain('"oldStays":true')
    for (const name of ['api', 'new']) expect(await lab.status(name)).toMatchObject({ session: 'new', state: 'running' })
    await lab.ok(['stop', 'new'])
    expect(JSON.parse(await lab.ok(['remove', 'new', 'old', 'other', '--json']))).toHaveLength(3)
    expect(JSON.parse(await lab.ok(['ls', '--all', '--json']))).toEqual([])
    expect(readdirSync(join(lab.home, 'runs'))).toEqual([])

    const git = (...args: string[]): void => {
      const done = spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: lab.dir, encoding: 'utf8' })
      expect(done.status, done.stderr).toBe(0)
    }
    git('init', '-q')
    git('commit', '-q', '--allow-empty', '-m', 'first')
    await lab.ok(['run', '--name', 'fix', '--worktree=fix', '--', 'sh', '-c', 'echo x >new'])
    const { worktree } = (await lab.status('fix')) as unknown as { worktree: { path: string } }
    expect(await lab.refused(['rm', 'fix'])).toMatchObject({ id: 'worktree-has-work', code: 75, message: expect.stringMatching(/1 untracked/) })
    rmSync(join(worktree.path, 'new'))
    expect(await lab.ok(['rm', 'fix'])).toBe(`session fix is forgotten, with 1 run and its worktree ${worktree.path}\n`)
    expect(existsSync(worktree.path)).toBe(false)
  }),
)
