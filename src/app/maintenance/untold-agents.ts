import type { SessionRecord } from '../../model/index.ts'
import { isLive } from '../../model/index.ts'
import type { Finding } from '../../show/index.ts'
import { type Whose, whoseAgents } from '../agent/find-agents.ts'
import { agentLine } from '../agent/unmanaged-agents.ts'
import type { World } from '../world/world.ts'

/**
 * Agents that Holdfast did not start, that tell nobody their conversation, and that work where a live session of the same agent works: whether both
 * write to one conversation, nobody can tell. Some wipe even their command line.
 */
export async function untoldBeside(world: World, views: readonly SessionRecord[]): Promise<Finding[]> {
  const untold = (await whoseAgents(world)).filter(({ agent, session }) => session === null && agent.nativeId === null && agent.named === null)
  return untold.flatMap((one): Finding[] => {
    const near = views.find((view) => worksThere(world, view, one))
    if (near === undefined) return []
    const { agent } = one
    return [
      {
        topic: 'owners',
        level: 'note',
        what: `${agentLine(world, agent)} works in the directory of session ${near.session.id}, and does not tell which conversation it has`,
        next: `if it is that of session ${near.session.id}, end one of them: holdfast stop ${near.session.id}, or pid ${agent.row.pid} yourself`,
      },
    ]
  })
}

function worksThere({ directories }: Pick<World, 'directories'>, { session, run }: SessionRecord, { agent }: Whose): boolean {
  if (run === null || !isLive(run) || session.harness !== agent.harness || agent.cwd === null) return false
  const key = directories.keyAt(agent.cwd)
  return agent.cwd === run.dir || (key !== null && key === directories.keyAt(run.dir))
}
