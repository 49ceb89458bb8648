import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
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
