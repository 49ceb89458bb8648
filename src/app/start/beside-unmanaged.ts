import type { LookPorts } from '../../act/index.ts'
import { relationOf, standingOf } from '../../decide/index.ts'
import type { Agent, Directory } from '../../model/index.ts'
import { Problem, sameProcess } from '../../model/index.ts'
import { agentFacts, agentLine, agentsHere, markedBy, ownersOf } from '../agent/unmanaged-agents.ts'
import type { World } from '../world/world.ts'
import type { Plan } from './plan.ts'

/**
 * Agents that Holdfast did not start and that work where this run shall. With --allow-unmanaged, the lock says beside whom the run works.
 * Where a run around us holds the directory already, that run was asked.
 */
export async function unmanagedBeside({ world, request, directory }: Plan, delegated: boolean): Promise<readonly Agent[]> {
  return delegated || request.adopt !== undefined ? [] : unmanagedIn(world, directory)
}

/** Names them, and what can be done. */
export async function inUseBy({ world, directory }: Plan, found: readonly [Agent, ...Agent[]]): Promise<Problem> {
  const [first] = found
  const told = found.map((agent) => agentLine(world, agent)).join('; ')
  const marked = await markedBy(world, first)
  const ways = [
    ...(marked === null ? [`holdfast adopt ${first.row.pid} takes it in as a session`] : []),
    '--allow-unmanaged to work beside it',
    ...(directory.repository === null ? [] : ['--worktree for a working tree of its own']),
    'or end it yourself',
  ]
  const whose = marked === null ? 'which Holdfast did not start' : `which has the marker of ${marked}`
  return new Problem('directory-in-use', `directory ${directory.path} is in use by ${told}, ${whose}`, {
    hint: ways.join(' · '),
    detail: { unmanaged: found.map((agent) => agentFacts(world, agent)) },
  })
}

async function unmanagedIn(world: World, directory: Directory): Promise<Agent[]> {
  const mounts = world.directories.mounts()
  const near = agentsHere(world).filter(({ cwd }) => {
    // One that works in the root directory is at work nowhere: that is where those go who let go of everything.
    const there = cwd === null || cwd === '/' ? null : world.directories.look(cwd, mounts)
    return there !== null && relationOf(directory, standingOf(there)) !== null
  })
  const origins = world.processes.origins()
  const strangers = near.filter(({ row, launchers }) => ![row, ...launchers].some((one) => origins.some((origin) => sameProcess(origin, one))))
  return withoutManaged(world, strangers)
}

/**
 * Without those that a live run on record has, as its members. A marker alone says little: what a harness's shared daemon starts for others
 * carries that of the run in which the daemon was born.
 */
async function withoutManaged(world: LookPorts & Pick<World, 'policy' | 'store'>, agents: readonly Agent[]): Promise<Agent[]> {
  if (agents.length === 0) return []
  const owners = await ownersOf(
    world,
    agents.map(({ row }) => row),
  )
  return agents.filter(({ row }) => !owners.has(row.pid))
}
