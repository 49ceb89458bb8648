import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { until } from '../real/lab.ts'
import { type AgentLab, endUnmanaged, promptIn, scenario } from './lab.ts'

/** Agents that say themselves who owns a session. */
const of = ({ name }: { name: string }): boolean => name === 'claude'

type Listed = { readonly session: string | null; readonly nativeId: string | null; readonly pid: number; readonly harness: string | null }
const listed = async (lab: AgentLab): Promise<Listed[]> => JSON.parse(await lab.ok(['ls', '--unmanaged', '--json'])) as Listed[]

scenario(
  'one that Holdfast did not start is listed with its native id, and owns it: a resume is refused',
  async (lab) => {
    const id = randomUUID()
    const stranger = lab.unmanaged(lab.launch.start(id, 'alpha [[hang]]'))
    await lab.asked('alpha')
    expect(await listed(lab)).toContainEqual(expect.objectContaining({ session: null, nativeId: id, pid: stranger.pid, harness: lab.launch.name }))
    const refused = await lab.hf(['resume', id, '--detach', '--dir', lab.newDir(), '--prompt-file', promptIn(lab.file('no'), 'beta [[say: no]]')])
    expect(refused.code, refused.stderr).toBe(75)
    expect(refused.stderr).toContain(`pid ${stranger.pid}`)
    expect(lab.model.requests.some(({ prompt }) => prompt.includes('beta'))).toBe(false)
    await endUnmanaged(stranger)
    expect((await listed(lab)).filter(({ nativeId }) => nativeId === id)).toEqual([])
  },
  { of },
)

scenario(
  'two live owners of one native id, both let in by the agent itself, are flagged by doctor',
  async (lab) => {
    const id = randomUUID()
    const first = lab.unmanaged(lab.launch.start(id, 'alpha [[hang]]'))
    await lab.asked('alpha')
    const second = lab.unmanaged(lab.launch.resume(id, 'beta [[hang]]'))
    await lab.asked('beta')
    const told = await until('doctor to see both', async () => {
      const { stdout } = await lab.hf(['doctor'])
      return stdout.includes(id) ? stdout : null
    })
    expect(told).toContain('both write to the same transcript')
    for (const { pid } of [first, second]) expect(told).toContain(String(pid))
    await endUnmanaged(second)
    expect((await lab.hf(['doctor'])).stdout).not.toContain('both write to the same transcript')
    await endUnmanaged(first)
  },
  { of },
)
