import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { until } from '../real/lab.ts'
import type { WorkRequestJson } from '../real/work-lab.ts'
import { CLAUDE_OPTIONS } from './harnesses.ts'
import { AGENT_MS, type AgentLab, scenario } from './lab.ts'

type Place = { readonly repo: string; readonly remote: string; git(...args: string[]): string }

/** A repository with a bare one as its remote, and the agent's options in config.toml. */
function placeIn(lab: AgentLab): Place {
  const [repo, remote] = [lab.newDir(), lab.newDir()]
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', repo, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { encoding: 'utf8' }).trim()
  git('init', '--quiet', '--initial-branch=main')
  git('commit', '--quiet', '--allow-empty', '-m', 'first')
  git('init', '--quiet', '--bare', remote)
  git('remote', 'add', 'origin', remote)
  mkdirSync(lab.home, { recursive: true, mode: 0o700 })
  const agent = [lab.launch.name, ...CLAUDE_OPTIONS]
  writeFileSync(join(lab.home, 'config.toml'), `[work]\npublish = "branch"\nagent = ${JSON.stringify(agent)}\n`)
  return { repo, remote, git }
}

/** Passes of a worker until the request has come to its end. */
async function work(lab: AgentLab, { repo }: Place, text: string): Promise<WorkRequestJson> {
  const ask = async (...args: string[]): Promise<WorkRequestJson> => JSON.parse(await lab.ok([...args, '--json'], { cwd: repo })) as WorkRequestJson
  const { id } = await ask('work', 'add', text)
  return until(
    `request ${id} to be over`,
    async () => {
      await lab.ok(['worker', 'run', '--once'], { cwd: repo })
      const request = await ask('work', 'show', id)
      return ['done', 'blocked', 'cancelled'].includes(request.state) ? request : null
    },
    AGENT_MS,
  )
}

const COMMIT = 'git add -A && git -c user.name=a -c user.email=a@b commit --quiet -m work'
const onlyClaude = { of: ({ name }: AgentLab['launch']) => name === 'claude' }

scenario(
  'a request goes from its text through tool calls to a commit on the remote, and is done',
  async (lab) => {
    const place = placeIn(lab)
    const over = await work(lab, place, `Write a file. [[run: echo alpha >written]] [[run: ${COMMIT}]] [[say: it is written]]`)
    expect([over.state, over.reason], String(over.summary)).toEqual(['done', 'commits'])
    expect(over.summary).toContain('published to origin')
    expect(place.git('--git-dir', place.remote, 'show', `holdfast/${over.id}:written`)).toBe('alpha')
    expect(existsSync(String(over.dir))).toBe(false)
    expect(await lab.status(over.session)).toMatchObject({ state: 'completed', harness: 'claude' })
  },
  onlyClaude,
)

scenario(
  'a request whose agent ends without a result is blocked, and tells its last words',
  async (lab) => {
    const over = await work(lab, placeIn(lab), 'Write a file. [[say: I know of no such file]]')
    expect([over.state, over.reason], String(over.summary)).toEqual(['blocked', 'no-result'])
    expect(over.summary).toContain('I know of no such file')
    expect(over.summary).toContain(`holdfast work retry ${over.id}`)
  },
  onlyClaude,
)
