import { expect } from 'vitest'
import { untoldBeside } from '../../src/app/maintenance/untold-agents.ts'
import { start } from '../../src/app/start/start.ts'
import { verifies } from '../requirements.ts'
import { aRequest, outside, starting } from '../sim/starting.ts'

verifies(
  'visible',
  'a second agent that somebody starts by hand, and that tells no conversation, is told beside the session where it works',
  async () => {
    const lab = await starting()
    lab.program('kimi')
    await start(lab.world, aRequest(lab, { session: 'd', harness: 'kimi', argv: [], tmux: true }), undefined, outside)
    const findings = async () => untoldBeside(lab.world, (await lab.sim.store.sessions.snapshot('live', 10)).views)
    expect(await findings()).toEqual([])
    lab.stranger(['kimi'], '/')
    lab.stranger(['goose'], lab.dir)
    expect(await findings()).toEqual([])
    const { pid } = lab.stranger(['kimi'], lab.dir)
    expect(await findings()).toMatchObject([
      { level: 'note', what: expect.stringContaining(`kimi (pid ${pid})`), next: expect.stringContaining('holdfast stop d') },
    ])
  },
)
