import { harnessOf } from '../../act/index.ts'
import type { ProcessId } from '../../model/index.ts'
import { Problem, sameProcess } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { whoMayAct } from './who-am-i.ts'

/** Programs that only run another one, and end with it. */
export const PASSES_ON = /^(timeout|sudo|doas|nice|ionice|chrt|nohup|setsid|stdbuf|time|strace|xargs|flock|unshare|prlimit)$/

/** Shells that a client may start us through. */
const SHELLS = /^(sh|bash|dash|ash|zsh|ksh|mksh|fish|busybox)$/

/** Those we were started from, nearest first, up to the first that is no shell and does not only pass on what it was called with: the client. */
export function clientChain({ processes }: Pick<World, 'processes'>): readonly ProcessId[] {
  const chain: ProcessId[] = []
  for (const origin of processes.origins().slice(1)) {
    const seen = processes.sample(origin.pid)
    // Pid 1 is everybody's, and what is gone already was never there for us.
    if (origin.pid <= 1 || seen.kind !== 'seen' || !sameProcess(seen.row, origin)) break
    chain.push(origin)
    if (!SHELLS.test(seen.row.name) && !PASSES_ON.test(seen.row.name)) break
  }
  return chain
}

/** Whom a command works for that lives as long as its client: the agent of the session around it, or an agent of no session, or the client. */
export async function agentAround(world: World): Promise<ProcessId> {
  const self = await whoMayAct(world)
  if (self.kind === 'agent') return { pid: self.agent.row.pid, ticks: self.agent.row.ticks }
  const agent = (self.kind === 'session' ? harnessOf(self.run, world.evidence) : null) ?? clientChain(world).at(-1)
  if (agent === undefined) throw new Problem('lock-agent-missing', 'there is no agent that could hold it: its process is gone, or was never known')
  return agent
}

/** What is started for the agent gets its environment, as its own tools do: some agents hand nothing of it on to MCP servers. */
export async function inAgentsEnvironment(world: World): Promise<World> {
  const agent = await agentAround(world)
  const seen = world.processes.sample(agent.pid)
  if (seen.kind !== 'seen' || !sameProcess(seen.row, agent)) return world
  return { ...world, env: { ...world.processes.environment(agent.pid), ...world.env } }
}
