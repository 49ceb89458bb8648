import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { COMMAND, inLab, isAlive, type Lab, type Options, until } from './lab.ts'

type Request = { id: string; state: string; cause: string | null; reason: string | null; summary: string; createdAt: string; session: string } & {
  dir: string
  branch: string
  result: { text: string; by: string; commits: number } | null
  feedback: { id: string; state: string; text: string }[]
}

/** An agent that takes its prompt from stdin. A prompt with "idle" keeps it at work; else it commits a file and reports its result. */
const CLAUDE = `#!/bin/sh
cat >"$FA_DIR/prompt"
if grep -q idle "$FA_DIR/prompt"; then echo $$ >"$FA_DIR/main.pid"; exec sleep 3600; fi
date +%N >>words
git add -A
git -c user.name=a -c user.email=a@b commit -qm "words" || exit 1
holdfast work finish --summary "the words are there"
`

type Words = { readonly repo: string; readonly options: Options; list(): Promise<Request[]>; newest(): Promise<Request>; pass(): Promise<void> }

/** A repository with a commit, an agent that is called claude, and a home of its own for it. */
async function inRepository(body: (lab: Lab, words: Words) => Promise<void>): Promise<void> {
  await inLab(async (lab) => {
    const [repo, bin, user] = [lab.newDir(), lab.newDir(), lab.newDir()]
    const git = (...args: string[]) => execFileSync('git', ['-C', repo, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args])
    git('init', '-q')
    git('commit', '-q', '--allow-empty', '-m', 'first')
    mkdirSync(join(user, '.config'))
    writeFileSync(join(bin, 'claude'), CLAUDE)
    chmodSync(join(bin, 'claude'), 0o755)
    symlinkSync(COMMAND, join(bin, 'holdfast'))
    const options: Options = { cwd: repo, env: { PATH: `${bin}:${process.env['PATH']}`, HOME: user, XDG_CONFIG_HOME: join(user, '.config') } }
    const list = async (): Promise<Request[]> => JSON.parse(await lab.ok(['work', 'ls', '--all', '--json'], options)) as Request[]
    const newest = async (): Promise<Request> => {
      const [last] = (await list()).toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
      if (last === undefined) throw new Error('there is no request')
      return last
    }
    /** Passes of a worker until no agent works. */
    const pass = async (): Promise<void> => {
      await until('no agent to work', async () => {
        await lab.ok(['worker', 'run', '--once'], options)
        return (await list()).every(({ state, cause }) => state !== 'claimed' && state !== 'running' && cause !== 'feedback') ? true : null
      })
    }
    await body(lab, { repo, options, list, newest, pass })
  })
}

verifies('one-end', 'a request goes from its text to the result that its agent reports, and its end is final', () =>
  inRepository(async (lab, { repo, options, newest, pass }) => {
    const added = JSON.parse(await lab.ok(['work', 'add', '--harness', 'claude', '# Write words\nmany of them', '--json'], options)) as Request
    expect(added).toMatchObject({ state: 'queued', title: 'Write words', repo, harness: 'claude', publish: 'none' })
    expect(await lab.ok(['work', 'explain', added.id], options)).toMatch(/no worker runs[^\n]*\nnext: holdfast daemon start/)
    await pass()
    expect(await newest()).toMatchObject({
      id: added.id,
      state: 'done',
      reason: 'reported',
      result: { text: 'the words are there', by: `work-${added.id}`, commits: 1 },
    })
    const log = execFileSync('git', ['-C', repo, 'log', '--format=%s', `holdfast/${added.id}`], { encoding: 'utf8' })
    expect(log).toBe('words\nfirst\n')
    for (const late of [
      ['cancel', added.id],
      ['finish', added.id, '--summary', 'x'],
    ])
      expect(await lab.refused(['work', ...late], options)).toMatchObject({ id: 'request-over', code: 75 })
    expect(await lab.refused(['feedback', 'add', added.id, 'late'], options)).toMatchObject({ id: 'request-over', code: 75 })
  }),
)

verifies('stop-proof', 'cancel ends the agent with all that it started, and says so', () =>
  inRepository(async (lab, { options, newest }) => {
    await lab.ok(['work', 'add', '--harness', 'claude', 'be idle'], options)
    await lab.ok(['worker', 'run', '--once'], options)
    const pid = await lab.pid('main')
    const { id, state } = await newest()
    expect(state).toBe('running')
    expect(await lab.ok(['work', 'explain', id], options)).toContain('its agent is at work')
    const cancelled = JSON.parse(await lab.ok(['work', 'cancel', id, '--reason', 'no time', '--json'], options)) as Request
    expect(cancelled).toMatchObject({ state: 'cancelled', reason: 'cancelled', outcome: 'cancelled', summary: expect.stringContaining('no time') })
    expect(isAlive(pid)).toBe(false)
    const again = JSON.parse(await lab.ok(['work', 'rerun', id, '--json'], options)) as Request
    expect(again).toMatchObject({ state: 'queued', from: { request: id, how: 'rerun' } })
  }),
)

test('wrong input is refused with one sentence, and changes nothing', () =>
  inRepository(async (lab, { options, list }) => {
    const add = ['work', 'add', '--harness', 'claude']
    const unborn = lab.newDir()
    execFileSync('git', ['-C', unborn, 'init', '-q'])
    const cases: readonly (readonly [string[], string, number])[] = [
      [[...add, ''], 'text-empty', 64],
      [add, 'arguments-wrong', 64],
      [[...add, '--repo', lab.dir, 'x'], 'repository-missing', 64],
      [[...add, '--repo', unborn, 'x'], 'repository-unborn', 64],
      [[...add, '--after', 'wnothing', 'x'], 'request-unknown', 66],
      [[...add, '--label', 'x', 'x'], 'option-value-invalid', 64],
      [['work', 'add', '--harness', 'codex', 'x'], 'agent-not-installed', 66],
      [['work', 'show', 'wnothing'], 'request-unknown', 66],
      [['work', 'finish', '--summary', 'x'], 'caller-outside-session', 66],
      [['feedback', 'retry', 'fnothing'], 'feedback-unknown', 66],
    ]
    for (const [args, id, code] of cases) expect(await lab.refused(args, { ...options, input: '' }), args.join(' ')).toMatchObject({ id, code })
    expect(await list()).toEqual([])
  }))

test('the commands of docs/guide/work.md do what the page says', () =>
  inRepository(async (lab, { options, newest, pass }) => {
    const lines = [...readFileSync('docs/guide/work.md', 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
      block.trim().split('\n'),
    )
    expect(lines.length).toBeGreaterThan(12)
    const ends: string[] = []
    for (const line of lines) {
      const [program, ...said] = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')
      expect(program).toBe('holdfast')
      const id = line.includes('ID') ? (await newest()).id : ''
      const args = said.map((word) => (word === 'ID' ? id : word))
      // The page names the agent once; here others may be installed, too.
      await lab.ok(line.includes('work add') ? ['work', 'add', '--harness', 'claude', ...args.slice(2)] : args, options)
      if (args.includes('--once')) await pass()
      if (line.startsWith('holdfast work show') || line.startsWith('holdfast work finish') || line.startsWith('holdfast work cancel')) {
        const { state, reason } = await newest()
        ends.push(`${state} ${reason}`)
      }
    }
    expect(ends).toEqual(['done reported', 'done accepted', 'cancelled cancelled', 'cancelled cancelled'])
  }))
