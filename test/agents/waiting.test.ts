import { expect } from 'vitest'
import { until } from '../real/lab.ts'
import { AGENT_MS, type AgentLab, scenario } from './lab.ts'

type Seen = { readonly session: string; readonly activity: { readonly state: string; readonly how: string } | null }

scenario(
  'with our hooks it is busy while it works, in ls, and that its turn was over is on record',
  async (lab) => {
    await lab.ok(['hooks', 'install', lab.launch.name])
    await lab.run('a', 'alpha [[run: true]] [[gate: seen]] [[run: true]] [[say: done]]', [], lab.launch.hooked)
    await lab.asked('alpha', 1)
    expect(await activityOf(lab)).toMatchObject({ state: 'busy', how: 'hook' })
    lab.model.open('seen')
    await until('it to end', async () => (await lab.status('a')).state === 'completed', AGENT_MS)
    const events = JSON.parse(await lab.ok(['events', 'a', '--json'])) as { kind: string; detail: { state?: string } }[]
    expect(events.flatMap(({ kind, detail }) => (kind === 'activity' ? detail.state : [])).slice(-2)).toEqual(['busy', 'idle'])
    // Nothing of ours was still at work when it ended.
    expect(events.find(({ kind }) => kind === 'survivors')).toBeUndefined()
  },
  // Every Code has no hooks.
  { of: ({ name }) => name !== 'code' },
)

async function activityOf(lab: AgentLab): Promise<Seen['activity']> {
  const seen = JSON.parse(await lab.ok(['ls', '--json'])) as Seen[]
  return seen.find(({ session }) => session === 'a')?.activity ?? null
}
