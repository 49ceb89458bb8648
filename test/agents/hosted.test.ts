import { expect } from 'vitest'
import { until } from '../real/lab.ts'
import { CLAUDE_OPTIONS } from './harnesses.ts'
import { AGENT_MS, type AgentLab, scenario } from './lab.ts'

type Sent = { readonly taken: string; readonly why: string }
const send = async (lab: AgentLab, text: string): Promise<Sent> => JSON.parse(await lab.ok(['send', 'a', '--json', '--', text])) as Sent
const shown = (lab: AgentLab, what: string, times = 1): Promise<unknown> =>
  until(`the pane to show ${what}`, async () => (await lab.ok(['logs', 'a'])).split(what).length > times, AGENT_MS)

scenario(
  'in a pane: several lines are one prompt, its hook says that it was taken, its answer is on the screen, and stop closes the pane',
  async (lab) => {
    await lab.ok(['hooks', 'install', lab.launch.name])
    await lab.ok(['run', '--session', 'a', '--dir', lab.dir, '--tmux', '--detach', lab.launch.name, ...CLAUDE_OPTIONS])
    await shown(lab, '❯')
    expect(await send(lab, 'alpha one\n[[say: answered-alpha]]')).toMatchObject({ taken: 'yes' })
    await lab.asked('alpha one')
    expect(lab.model.requests.some(({ prompt }) => /alpha one\s+\[\[say: answered-alpha\]\]/.test(prompt))).toBe(true)
    // Once in the prompt, and once more in the answer.
    await shown(lab, 'answered-alpha', 2)
    expect(await send(lab, 'beta [[say: answered-beta]]')).toMatchObject({ taken: 'yes' })
    await shown(lab, 'answered-beta', 2)
    const { pid } = await lab.status('a')
    expect(pid).toBeGreaterThan(1)
    await lab.ok(['stop', 'a'])
    expect(await lab.status('a')).toMatchObject({ state: 'stopped' })
    expect((await lab.hf(['attach', 'a'])).code).toBe(66)
    // It has left the alternate screen by then: what is kept is its farewell.
    expect(await lab.ok(['logs', 'a'])).toContain('Resume this session with')
  },
  { of: ({ name }) => name === 'claude' },
)

scenario(
  'in a pane, without hooks: its conversation is known once it has begun one, and a second owner of that is refused wherever it would work',
  async (lab) => {
    await lab.ok(['run', '--session', 'a', '--dir', lab.dir, '--tmux', '--detach', lab.launch.name])
    await shown(lab, 'Ask anything', 0)
    expect((await lab.status('a')).nativeId).toBeNull()
    // It throws a prompt away as long as it loads its models.
    await until(
      'it to take a prompt',
      async () => {
        await lab.hf(['send', 'a', '--', 'alpha [[say: answered-alpha]]'])
        return until('the model to be asked', () => lab.model.requests.some(({ prompt }) => prompt.includes('alpha')), 3000).catch(() => false)
      },
      AGENT_MS,
    )
    const native = await until('its conversation to be known', async () => (await lab.status('a')).nativeId, AGENT_MS)
    expect(native).toMatch(/^ses_/)
    const elsewhere = await lab.hf([
      'run',
      '--session',
      'b',
      '--dir',
      lab.newDir(),
      '--detach',
      lab.launch.name,
      ...lab.launch.resume(native, 'beta'),
    ])
    expect([elsewhere.code, elsewhere.stderr]).toEqual([75, expect.stringContaining('session a')])
    expect(lab.model.requests.some(({ prompt }) => prompt.includes('beta'))).toBe(false)
    await lab.ok(['stop', 'a'])
  },
  { of: ({ name }) => name === 'opencode' },
)

async function states(lab: AgentLab): Promise<(string | undefined)[]> {
  const events = JSON.parse(await lab.ok(['events', 'a', '--json'])) as { kind: string; detail: { state?: string } }[]
  return events.flatMap(({ kind, detail }) => (kind === 'activity' ? [detail.state] : []))
}

scenario(
  'in a pane: it asks for a permission, and is shown as waiting; nothing is typed into its question, and the answer sets it to work again',
  async (lab) => {
    await lab.ok(['hooks', 'install', lab.launch.name])
    await lab.ok(['run', '--session', 'a', '--dir', lab.dir, '--tmux', '--detach', lab.launch.name, '--model', 'claude-sonnet-4-5'])
    await shown(lab, '❯')
    expect(await send(lab, 'alpha [[run: touch made-by-alpha]] [[say: answered-alpha]]')).toMatchObject({ taken: 'yes' })
    await shown(lab, 'Do you want to proceed')
    await until('it to wait', async () => (await lab.status('a')).activity?.state === 'waiting', AGENT_MS)
    // Its registry says so at once, its hook some seconds later.
    await until('that to be on record', async () => (await states(lab)).includes('waiting'), AGENT_MS)
    expect(await lab.hf(['send', 'a', '2'])).toMatchObject({ code: 75, stdout: expect.stringContaining('--force types all the same') as string })
    // What is pasted into its question never stands anywhere; Enter takes what is chosen there.
    const answered = await lab.hf(['send', 'a', '--force', '1'])
    expect([0, 76], answered.stdout).toContain(answered.code)
    await shown(lab, 'answered-alpha', 2)
    await until('its turn to be over', async () => (await lab.status('a')).activity?.state === 'idle', AGENT_MS)
    await lab.ok(['stop', 'a'])
  },
  { of: ({ name }) => name === 'claude' },
)
