import { writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { COMMAND, gone, isAlive, readOr, until } from '../real/lab.ts'
import { CLAUDE_OPTIONS } from './harnesses.ts'
import { AGENT_MS, type AgentLab, scenario } from './lab.ts'

type Who = { readonly kind: string; readonly session: string | null; readonly how: string | null }

/** A tool call that asks who it is in. The first word is what is put before the command. */
const asks = (file: string, before = ''): string => `[[run: ${before} ${COMMAND} whoami --json >${file}.part; mv ${file}.part ${file}]]`
const heard = async (file: string): Promise<Who> => JSON.parse(await until(`an answer in ${file}`, () => readOr(file) || null, AGENT_MS)) as Who

scenario('its tools are in its session, with the environment that it gives them and without any', async (lab) => {
  const [own, bare] = [lab.file('own'), lab.file('bare')]
  await lab.run('s', `alpha ${asks(own)} ${asks(bare, 'env -i PATH="$PATH"')} [[say: done]]`)
  expect(await heard(own)).toMatchObject({ kind: 'session', session: 's', how: 'cookie' })
  expect(await heard(bare)).toMatchObject({ kind: 'session', session: 's', how: 'marker' })
  expect((await lab.hf(['wait', 's', '--timeout', '60s'])).code).toBe(0)
})

scenario(
  'another agent that it starts is not its session, although it has the marker and environment of that',
  async (lab) => {
    const [file, script] = [lab.file('inner'), lab.file('script')]
    const words = [lab.path, ...lab.launch.fresh(`inner ${asks(file)} [[say: done]]`)].map((word) => `'${word}'`)
    writeFileSync(script, `${words.join(' ')} </dev/null >/dev/null 2>&1\n`)
    await lab.run('outer', `outer [[run: sh ${script}]] [[say: done]]`)
    expect(await heard(file)).toMatchObject({ kind: 'agent', session: null, inside: 'outer' })
    expect((await lab.hf(['wait', 'outer', '--timeout', '60s'])).code).toBe(0)
  },
  // This one keeps the key of the model from its tools.
  { of: ({ name }) => name !== 'code' },
)

type Roster = { readonly supervisorPid: number; readonly workers: Readonly<Record<string, { readonly pid: number; readonly sessionId: string }>> }
const roster = (lab: AgentLab): Roster =>
  JSON.parse(readOr(`${lab.userHome}/.claude/daemon/roster.json`) || '{"supervisorPid":0,"workers":{}}') as Roster

async function endDaemon(lab: AgentLab): Promise<void> {
  const { supervisorPid, workers } = roster(lab)
  await lab.say(['daemon', 'stop', '--any'])
  for (const pid of [supervisorPid, ...Object.values(workers).map((worker) => worker.pid)].filter((one) => one > 0)) await gone(pid)
}

scenario(
  'of sessions that share its daemon each is itself, and one that Holdfast did not start is none',
  async (lab) => {
    const background = (session: string, prompt: string) =>
      lab.ok(['run', '--session', session, '--dir', lab.dir, '--share', '--detach', '--allow-unmanaged', 'claude', '--bg', ...CLAUDE_OPTIONS, prompt])
    const files = ['first', 'second', 'stranger', 'bare'].map((name) => lab.file(name)) as [string, string, string, string]
    try {
      // The daemon is born in the first, so that all that it starts has the marker and environment of that one.
      await background('first', `alpha ${asks(files[0])} [[hang]]`)
      expect(await heard(files[0])).toMatchObject({ kind: 'session', session: 'first', how: 'registry' })
      await background('second', `beta ${asks(files[1])} ${asks(files[3], 'env -i PATH="$PATH"')} [[hang]]`)
      expect(await heard(files[1])).toMatchObject({ kind: 'session', session: 'second', how: 'registry' })
      expect(await heard(files[3])).toMatchObject({ kind: 'session', session: 'second', how: 'registry' })
      expect((await lab.say(['--bg', ...CLAUDE_OPTIONS, `gamma ${asks(files[2])} [[hang]]`])).code).toBe(0)
      expect(await heard(files[2])).toMatchObject({ kind: 'agent', session: null })
      expect(isAlive(roster(lab).supervisorPid)).toBe(true)
    } finally {
      await endDaemon(lab)
    }
  },
  { of: ({ name }) => name === 'claude' },
)
