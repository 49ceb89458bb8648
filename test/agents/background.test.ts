import { expect } from 'vitest'
import { gone, isAlive, readOr, until } from '../real/lab.ts'
import { CLAUDE_OPTIONS } from './harnesses.ts'
import { AGENT_MS, type AgentLab, answers, scenario, serve, serverAt } from './lab.ts'

const of = ({ name }: { name: string }): boolean => name === 'claude'

type Worker = { readonly pid: number; readonly sessionId: string }
type Roster = { readonly supervisorPid: number; readonly workers: Readonly<Record<string, Worker>> }
const roster = (lab: AgentLab): Roster =>
  JSON.parse(readOr(`${lab.userHome}/.claude/daemon/roster.json`) || '{"supervisorPid":0,"workers":{}}') as Roster

/** Ends claude's own daemon with its own command, and what its sessions left by the pids that they told us. */
async function endDaemon(lab: AgentLab, servers: readonly { readonly pid: number }[]): Promise<void> {
  const { supervisorPid, workers } = roster(lab)
  await lab.say(['daemon', 'stop', '--any'])
  for (const { pid } of servers) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  for (const pid of [supervisorPid, ...Object.values(workers).map((worker) => worker.pid)].filter((one) => one > 0)) await gone(pid)
}

scenario(
  'a background session lives on after its client, and a stop ends it with its dev server; the other one and the daemon live on',
  async (lab) => {
    const [ours, other] = [lab.file('ours'), lab.file('other')]
    const servers: { pid: number; port: number }[] = []
    try {
      const began = await lab.say(['--bg', ...CLAUDE_OPTIONS, `other ${serve(other)} [[hang]]`])
      expect(began.code, began.stderr).toBe(0)
      servers.push(await serverAt(other))
      const stranger = Object.values(roster(lab).workers)[0] as Worker

      await lab.ok([
        'run',
        '--session',
        's',
        '--dir',
        lab.dir,
        '--detach',
        '--allow-unmanaged',
        'claude',
        '--bg',
        ...CLAUDE_OPTIONS,
        `ours ${serve(ours)} [[hang]]`,
      ])
      servers.push(await serverAt(ours))
      await lab.asked('ours', 1)
      const status = await until(
        'its native id',
        async () => {
          const seen = await lab.status('s')
          return seen.nativeId === null ? null : seen
        },
        AGENT_MS,
      )
      expect(status).toMatchObject({ state: 'running', harness: 'claude' })
      expect(Object.values(roster(lab).workers).map(({ sessionId }) => sessionId)).toContain(status.nativeId)

      const stopped = await lab.hf(['stop', 's'])
      expect(stopped.code, stopped.stderr).toBe(0)
      const [kept, ended] = servers as [{ pid: number; port: number }, { pid: number; port: number }]
      expect(isAlive(ended.pid)).toBe(false)
      expect(await answers(ended.port)).toBe(false)
      expect(await answers(kept.port)).toBe(true)
      expect(isAlive(roster(lab).supervisorPid)).toBe(true)
      expect(isAlive(stranger.pid)).toBe(true)
      expect(Object.values(roster(lab).workers).map(({ sessionId }) => sessionId)).toEqual([stranger.sessionId])
    } finally {
      await endDaemon(lab, servers)
    }
  },
  { of },
)
