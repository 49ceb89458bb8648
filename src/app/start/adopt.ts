import { basename } from 'node:path'
import type { Agent } from '../../model/index.ts'
import { isDead, isSignallable, Problem, sameProcess } from '../../model/index.ts'
import { keeperOf } from '../agent/find-agents.ts'
import { agentsHere, markedBy, ownersOf } from '../agent/unmanaged-agents.ts'
import { everybody } from '../world/process-candidate.ts'
import type { World } from '../world/world.ts'
import { ownedElsewhere } from './checks/conversation-owners.ts'
import { start } from './start.ts'
import type { Started } from './started.ts'

export type AdoptRequest = {
  readonly pid: number
  readonly session?: string | undefined
  readonly name?: string | undefined
  readonly share?: boolean | undefined
  /** Also what is no agent that we know. */
  readonly force?: boolean | undefined
}

/** Takes in what runs already, as a session's run with its tree. Nothing of it is restarted, and nothing signalled. */
export async function adopt(world: World, { pid, force = false, ...request }: AdoptRequest): Promise<Started> {
  const agent = findAgent(world, pid, force)
  await refuseManaged(world, agent)
  const owned = agent.nativeId === null ? null : await ownedElsewhere(world, { harness: agent.harness, id: agent.nativeId }, agent.row.pid)
  if (owned !== null) throw owned
  if (agent.cwd === null)
    throw new Problem('process-directory-unknown', `where pid ${pid} works cannot be told`, { hint: 'adopt it as its own user' })
  const argv = agent.argv.length > 0 ? agent.argv : [agent.row.name]
  return start(world, { ...request, argv, dir: agent.cwd, detach: true, onLive: 'refuse', independent: true, adopt: agent })
}

/** By its own pid, or by that of one that only launched it. */
function findAgent(world: World, pid: number, force: boolean): Agent {
  const { processes } = world
  if (pid === 1) throw new Problem('process-init', 'pid 1 is everybody’s: it cannot be adopted')
  const seen = isSignallable(pid) ? processes.sample(pid) : { kind: 'absent' as const }
  if (seen.kind !== 'seen' || isDead(seen.row.state)) throw new Problem('process-missing', `there is no process ${pid} to adopt`)
  const { row } = seen
  const uid = world.own.uid()
  if (uid !== 0 && row.uid !== uid)
    throw new Problem('process-foreign-user', `pid ${pid} (${row.name}) belongs to uid ${row.uid}: you could not end it`, {
      hint: 'adopt it as that user',
    })
  const agent = agentsHere(world).find((one) => [one.row, ...one.launchers].some((part) => part.pid === pid && part.ticks === row.ticks))
  if (agent !== undefined) return agent
  if (processes.exe(pid) === null)
    throw new Problem('process-no-agent', `pid ${pid} (${row.name}) runs no program that could be told: a thread of the kernel, or not yours`)
  if (!force || pid === processes.self().pid)
    throw new Problem('process-no-agent', `pid ${pid} (${row.name}) is no agent at work that Holdfast knows`, {
      hint: '--force adopts it all the same: then holdfast stop ends it, with all it started',
    })
  if (processes.origins().some((one) => sameProcess(one, row)))
    throw new Problem('process-ancestor', `pid ${pid} (${row.name}) started this very command: its stop would end you as well`, {
      hint: 'adopt it from another terminal',
    })
  return { harness: basename(row.name), row, launchers: [], argv: processes.arguments(pid), cwd: processes.cwd(pid), nativeId: null, named: null }
}

/** What is a member of a run already, or carries a marker that it would lose, or that a daemon would only start again. */
async function refuseManaged(world: World, agent: Agent): Promise<void> {
  const { row } = agent
  const owner = (await ownersOf(world, [row])).get(row.pid)
  if (owner !== undefined) throw new Problem('process-managed', `pid ${row.pid} (${row.name}) is managed already: it is part of session ${owner}`)
  const marked = await markedBy(world, agent)
  if (marked !== null)
    throw new Problem('process-managed', `pid ${row.pid} (${row.name}) cannot be adopted: it has the marker of ${marked}`, {
      hint: '--allow-unmanaged starts beside it; or end it where it was started',
    })
  const kept = keeperOf(row, world.harnessDaemons(everybody(world)))
  if (kept !== null)
    throw new Problem('process-supervised', `pid ${row.pid} (${row.name}) is kept by ${kept.what}, which would start it again`, {
      hint: kept.stop === null ? '--allow-unmanaged starts beside it' : `end it with: ${kept.stop.join(' ')}`,
    })
}
