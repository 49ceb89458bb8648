import { isHere } from '../../act/index.ts'
import { judge, relationOf, standingOf } from '../../decide/index.ts'
import { agentsAmong, mayBeAgent } from '../../harness/index.ts'
import type { Directory, Lock, Mount, ProcessId, Relation } from '../../model/index.ts'
import { candidateOf } from '../world/process-candidate.ts'
import { isOfRun, rowsNear } from '../world/rows-of-run.ts'
import type { World } from '../world/world.ts'

type Senses = Pick<World, 'cgroups' | 'directories' | 'evidence' | 'ownHarnesses' | 'processes'>

/** Where an agent of a run works now, apart from the directory that the run holds. */
export type WorkedIn = { readonly lock: Lock; readonly relation: Relation; readonly worksIn: string }

/** Runs that hold another directory, and whose agents work in this one. What cannot be looked at is passed over, as with unmanaged agents. */
export function workingIn(world: Senses, directory: Directory, locks: readonly Lock[], mounts: readonly Mount[]): WorkedIn[] {
  return locks.flatMap((lock) => {
    for (const path of new Set(workplaces(world, lock))) {
      // One that works in the root directory is at work nowhere: that is where those go who let go of everything.
      const there = path === '/' ? null : world.directories.look(path, mounts)
      const relation = there === null ? null : relationOf(directory, standingOf(there))
      if (relation !== null) return [{ lock, relation, worksIn: path }]
    }
    return []
  })
}

/** Of the process that the run is about, and of every agent that it or a script started. */
function workplaces(world: Senses, lock: Lock): string[] {
  const { holder, run } = lock
  const command = holder.kind === 'run' && run !== null && isHere(lock, world) ? world.evidence.harness(run) : null
  if (holder.kind !== 'run' || run === null || command === null || judge(world.processes, lock.place, command).kind !== 'alive') return []
  return [world.processes.cwd(command.pid), ...agentsNear(world, run, holder, command)].flatMap((path) => path ?? [])
}

function agentsNear(world: Senses, run: string, about: { marker: number | null; cookie: string }, command: ProcessId): (string | null)[] {
  const own = world.ownHarnesses()
  const candidates = rowsNear(world, run, command)
    .filter((row) => row.pid !== command.pid && mayBeAgent(row.name, [], own) && isOfRun(world, about, row))
    .map((row) => candidateOf(world.processes, row))
  return agentsAmong(candidates, [], own).map(({ cwd }) => cwd)
}
