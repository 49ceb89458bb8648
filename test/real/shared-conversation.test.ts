import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { inLab, type Lab, until } from './lab.ts'
import { hookLine, type Obedient, obedient } from './obedient.ts'

/** Two sessions with a budget of 1000, each in a conversation of its own. An answer burns 110. */
async function twoSessions(
  lab: Lab,
): Promise<{ agent: Obedient; X: string; Y: string; begin: (session: string, ...words: string[]) => Promise<void> }> {
  const agent = obedient(lab)
  const begin = async (session: string, ...words: string[]): Promise<void> => {
    spawnSync('mkfifo', [join(lab.agentDir, `obey.${session}`)])
    const run = ['run', '--session', session, '--dir', lab.newDir(), '--budget', '1000', '--detach', '--', 'claude', ...words]
    await lab.ok(run, { env: agent.env })
  }
  return { agent, X: randomUUID(), Y: randomUUID(), begin }
}

const times = (count: number, words: string): string => Array.from({ length: count }, () => words).join('; ')
const burned = async (lab: Lab, session: string): Promise<number | undefined> =>
  ((await lab.status(session)) as unknown as { usage: { tokens: { total: number } | null } | null }).usage?.tokens?.total

verifies('innocent', 'a conversation counts for a session only while that has it: what the next one spends there ends nobody before', () =>
  inLab(async (lab) => {
    const { agent, X, Y, begin } = await twoSessions(lab)
    const Z = randomUUID()
    await begin('one', '--session-id', X)
    await agent.tell('one', 'burn')
    await agent.tell('one', `id=${Y}; ${hookLine('session-start', Y)}; burn`)
    await begin('two', '--resume', X)
    await agent.tell('two', times(8, 'burn'))
    await agent.tell('two', `id=${Z}; ${hookLine('session-start', Z)}`)
    await lab.ok(['reconcile'])
    expect([await burned(lab, 'one'), await burned(lab, 'two')]).toEqual([220, 880])
    // It comes back: what it spends there now is its own again, and the other's is not.
    await agent.tell('one', `id=${X}; ${hookLine('session-start', X)}; burn`)
    await lab.ok(['reconcile'])
    expect([await burned(lab, 'one'), await burned(lab, 'two')]).toEqual([330, 880])
    expect(await lab.status('one')).toMatchObject({ state: 'running', nativeId: X })
    await agent.tell('one', times(7, 'burn'))
    await until('its own budget to be spent', async () => (await lab.status('one')).state === 'stopped')
    expect(await burned(lab, 'two')).toBe(880)
  }),
)

verifies('unknown', 'while another session spends in its conversation, nobody can tell whose tokens those are: they are no reason to end it', () =>
  inLab(async (lab) => {
    const { agent, X, Y, begin } = await twoSessions(lab)
    await begin('one', '--session-id', X)
    await agent.tell('one', 'burn')
    await begin('two', '--session-id', Y)
    expect(await agent.tell('two', `id=${X}; ${hookLine('session-start', X)}`)).toContain('is that of session one')
    await agent.tell('two', times(10, 'burn'))
    await lab.ok(['reconcile'])
    expect(await lab.status('one')).toMatchObject({ state: 'running' })
    await lab.ok(['stop', 'two'])
    await agent.tell('one', times(7, 'burn'))
    await lab.ok(['reconcile'])
    expect(await lab.status('one')).toMatchObject({ state: 'running' })
    await agent.tell('one', times(2, 'burn'))
    await until('its own budget to be spent', async () => (await lab.status('one')).state === 'stopped')
    expect(await lab.status('one')).toMatchObject({ endedBy: 'budget', reason: expect.stringContaining('1100 of 1000') as string })
  }),
)
