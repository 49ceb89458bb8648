import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { gone, inLab, isAlive, type Lab, readOr, until } from './lab.ts'
import { type Obedient, obedient } from './obedient.ts'
import { program } from './strangers.ts'

/** An answer of the stand-in burns so much. */
const ANSWER = 110
type Task = {
  readonly session: string
  readonly state: string
  readonly usage: { readonly tokens: { readonly total: number } | null }
  readonly nested?: {
    readonly pid: number
    readonly nativeId: string | null
    readonly startedBy: { readonly name: string } | null
    readonly unwatched: unknown
  }
}
type Shown = { readonly state: string; readonly tasks: readonly Task[]; readonly usage: { readonly tokens: { readonly total: number } | null } }
const shown = async (lab: Lab, session: string): Promise<Shown> => (await lab.status(session)) as unknown as Shown
const answersIn = (lab: Lab, id: string): number =>
  readOr(join(lab.agentDir, 'config', 'projects', '-w', `${id}.jsonl`))
    .split('\n')
    .filter((line) => line.includes('"assistant"')).length

/** The agent of a session starts another one, which burns until it is ended; answers its pid. */
async function startInside(agent: Obedient, session: string, id: string, doing = 'burn'): Promise<number> {
  const said = await agent.tell(session, `FA_DO=${doing} "$0" -p --session-id ${id} </dev/null >/dev/null 2>&1 & echo $!`)
  return Number(said)
}

verifies('visible', 'an agent inside a session is a task of it while it lives, with tokens of its own, and on record after its end', () =>
  inLab(async (lab) => {
    const agent = obedient(lab)
    const [X, REVIEW] = [randomUUID(), randomUUID()]
    await agent.begin('s', lab.dir, '--session-id', X)
    await agent.tell('s', 'burn; burn')
    const pid = await startInside(agent, 's', REVIEW)
    await until('it to burn', () => answersIn(lab, REVIEW) >= 3)

    // Each verb shows it, whichever looks first.
    const listed = await until('ls to show its tokens', async () => {
      const [seen] = JSON.parse(await lab.ok(['ls', '--json'])) as Shown[]
      return (seen?.tasks[0]?.usage.tokens?.total ?? 0) >= 3 * ANSWER ? seen : null
    })
    expect(listed.tasks).toMatchObject([{ state: 'running', nested: { pid, nativeId: REVIEW, harness: 'claude', startedBy: { name: 'claude' } } }])
    const name = listed.tasks[0]?.session ?? ''
    expect(await lab.ok(['ls'])).toMatch(new RegExp(`\\n  ${name} +running +${pid} .*started by claude`))
    expect(await lab.ok(['status', 's'])).toMatch(new RegExp(`inside +${name} running for .*tokens.*started by claude`))
    expect(await lab.ok(['tree', 's'])).toContain(`task ${name} running`)
    expect(await lab.ok(['siblings'])).toContain(`inside it: ${name} running`)
    expect(await lab.ok(['task', 'ls'])).toMatch(new RegExp(`${name} +s +running`))
    expect((await shown(lab, 's')).usage.tokens?.total).toBe(2 * ANSWER)

    process.kill(pid, 'SIGKILL')
    await gone(pid)
    const [task, ...more] = (await shown(lab, 's')).tasks
    expect(more).toEqual([])
    expect(task).toMatchObject({ session: name, state: 'lost', usage: { tokens: { total: answersIn(lab, REVIEW) * ANSWER } } })
    expect(task).not.toHaveProperty('nested')
    await lab.ok(['stop', 's'])
    // All that was shown is all that was burned.
    const ended = await shown(lab, 's')
    expect(ended.usage.tokens?.total).toBe(answersIn(lab, X) * ANSWER)
    expect(ended.tasks).toHaveLength(1)
    expect(ended.tasks[0]).toEqual(task)
  }),
)

verifies('visible', 'an agent inside that spends on after the agent of its session is an event, and each list says so', () =>
  inLab(async (lab) => {
    const agent = obedient(lab)
    const [X, REVIEW] = [randomUUID(), randomUUID()]
    spawnSync('mkfifo', [join(lab.agentDir, 'obey.s')])
    const run = ['run', '--session', 's', '--dir', lab.dir, '--until', 'tree', '--detach', '--', 'claude', '--session-id', X]
    await lab.ok(run, { env: agent.env })
    await agent.tell('s', 'burn')
    const pid = await startInside(agent, 's', REVIEW)
    expect((await shown(lab, 's')).tasks).toMatchObject([{ nested: { pid, unwatched: null } }])
    // The agent of the session ends; what it started goes on.
    process.kill((await lab.status('s')).pid, 'SIGKILL')
    const task = await until('it to spend unwatched', async () => {
      const [one] = (await shown(lab, 's')).tasks
      return one?.nested?.unwatched == null ? null : one
    })
    expect(task).toMatchObject({ nested: { pid, unwatched: { why: 'agent-gone' } } })
    expect(await lab.ok(['ls'])).toMatch(/spends unwatched: the agent of its session has been gone for/)
    await lab.ok(['ls'])
    const events = JSON.parse(await lab.ok(['events', 's', '--json'])) as { kind: string }[]
    expect(events.filter(({ kind }) => kind === 'unwatched')).toMatchObject([{ detail: { why: 'agent-gone', pid, task: task.session } }])
    await lab.ok(['stop', 's'])
    await gone(pid)
    const [ended] = (await shown(lab, 's')).tasks
    expect(ended).toMatchObject({ session: task.session, usage: { tokens: { total: answersIn(lab, REVIEW) * ANSWER } } })
  }),
)

verifies('bounded', 'a budget counts the agents inside a session, and ends it with them', () =>
  inLab(async (lab) => {
    const agent = obedient(lab)
    const [X, REVIEW] = [randomUUID(), randomUUID()]
    spawnSync('mkfifo', [join(lab.agentDir, 'obey.s')])
    const run = ['run', '--session', 's', '--dir', lab.dir, '--budget', '1000', '--detach', '--', 'claude', '--session-id', X]
    await lab.ok(run, { env: agent.env })
    await agent.tell('s', 'burn; burn')
    const pid = await startInside(agent, 's', REVIEW)
    await until('the budget to be spent', async () => (await lab.status('s')).state === 'stopped')
    await gone(pid)
    const ended = await lab.status('s')
    expect(ended).toMatchObject({ endedBy: 'budget', reason: expect.stringMatching(/budget.*of 1000 tokens/) as string })
    const { usage, tasks } = await shown(lab, 's')
    expect(usage.tokens?.total).toBe(2 * ANSWER)
    expect(tasks).toMatchObject([{ state: 'superseded', usage: { tokens: { total: answersIn(lab, REVIEW) * ANSWER } } }])
  }),
)

/** A program under an agent's name that writes a rollout as Codex does, until it is ended; it is told what to write by a script. */
function rollouts(lab: Lab, name: string, variable: string): { readonly command: string; answers(): number } {
  const [id, home] = [randomUUID(), lab.newDir()]
  const day = join(home, 'sessions', '2026', '11', '19')
  mkdirSync(day, { recursive: true })
  const rollout = join(day, `rollout-2026-11-19T00-00-00-${id}.jsonl`)
  const script = join(home, 'work')
  const usage = (tokens: string): string => `{"input_tokens":${tokens},"output_tokens":10,"total_tokens":0}`
  const info = `{"total_token_usage":${usage("'$((n * 100))'")},"last_token_usage":${usage('100')}}`
  const line = `{"timestamp":"'$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)'","type":"event_msg","payload":{"type":"token_count","info":${info}}}`
  const first = `{"type":"session_meta","payload":{"id":"${id}","cwd":"/"}}`
  writeFileSync(script, `exec 3>>${rollout}; echo '${first}' >&3; n=0\nwhile sleep 0.2; do n=$((n + 1)); echo '${line}' >&3; done\n`)
  return {
    command: `${variable}=${home} ${program(lab, name, '/bin/bash')} ${script}`,
    answers: () =>
      readOr(rollout)
        .split('\n')
        .filter((text) => text.includes('token_count')).length,
  }
}

verifies('bounded', 'a budget counts Codex and Every Code inside a session of another harness, which writes nothing meanwhile', () =>
  inLab(async (lab) => {
    const agent = obedient(lab)
    for (const [session, name, variable, harness] of [
      ['one', 'codex', 'CODEX_HOME', 'codex'],
      ['two', 'coder', 'CODE_HOME', 'code'],
    ] as const) {
      spawnSync('mkfifo', [join(lab.agentDir, `obey.${session}`)])
      const run = ['run', '--session', session, '--dir', lab.newDir(), '--budget', '1000', '--detach', '--', 'claude', '--session-id', randomUUID()]
      await lab.ok(run, { env: agent.env })
      await agent.tell(session, 'burn')
      const inner = rollouts(lab, name, variable)
      const pid = Number(await agent.tell(session, `${inner.command} </dev/null >/dev/null 2>&1 & echo $!`))
      // No verb looks meanwhile: the timer of the run does.
      await until('the budget to be spent', () => !isAlive(pid))
      await until('its end', async () => (await lab.status(session)).state === 'stopped')
      const ended = await shown(lab, session)
      expect(ended).toMatchObject({ endedBy: 'budget', usage: { tokens: { total: ANSWER } } })
      expect(ended.tasks).toMatchObject([{ state: 'superseded', usage: { tokens: { total: inner.answers() * ANSWER } } }])
      expect(ended.tasks[0]?.session).toContain(`${session}.${harness}-`)
    }
  }),
)
