import { censusOf, isHere, type LookPorts } from '../../act/index.ts'
import { judge, relationOf, standingOf } from '../../decide/index.ts'
import { agentsAmong, mayBeAgent } from '../../harness/index.ts'
import type { Directory, Lock, Mount, ProcessId, Relation, RunRecord } from '../../model/index.ts'
import { sameProcess } from '../../model/index.ts'
import { candidateOf } from '../world/process-candidate.ts'
import { isOfRun, rowsNear } from '../world/rows-of-run.ts'
import type { World } from '../world/world.ts'

type Senses = LookPorts & Pick<World, 'directories' | 'ownHarnesses'>

/** Where an agent of a run works now, apart from the directory that the run holds. */
export type WorkedIn = { readonly lock: Lock; readonly relation: Relation; readonly worksIn: string }

type Working = { readonly process: ProcessId; readonly cwd: string }

/**
 * Runs that hold another directory, and whose agents work in this one. What cannot be looked at is passed over, as with unmanaged agents.
 * `recordOf`: enough of a run to count its members.
 */
export async function workingIn(
  world: Senses,
  directory: Directory,
  locks: readonly Lock[],
  mounts: readonly Mount[],
  recordOf: (lock: Lock) => RunRecord | null,
): Promise<WorkedIn[]> {
  const relationAt = (path: string): Relation | null => {
    // One that works in the root directory is at work nowhere: that is where those go who let go of everything.
    const there = path === '/' ? null : world.directories.look(path, mounts)
    return there === null ? null : relationOf(directory, standingOf(there))
  }
  const found: WorkedIn[] = []
  for (const lock of locks) {
    const record = recordOf(lock)
    const command = record !== null && isHere(lock, world) ? world.evidence.harness(record.id) : null
    if (record === null || command === null || judge(world.processes, lock.place, command).kind !== 'alive') continue
    for (const { process, cwd } of atWork(world, record, command)) {
      const relation = relationAt(cwd)
      if (relation === null || !(await isItsOwn(world, record, process, command))) continue
      found.push({ lock, relation, worksIn: cwd })
      break
    }
  }
  return found
}

/** The process that the run is about, and every agent that it or a script started. */
function atWork(world: Senses, run: RunRecord, command: ProcessId): Working[] {
  const own = world.ownHarnesses()
  const candidates = rowsNear(world, run.id, command)
    .filter((row) => !sameProcess(row, command) && mayBeAgent(row.name, [], own) && isOfRun(world, run, row))
    .map((row) => candidateOf(world.processes, row))
  const agents = agentsAmong(candidates, [], own).map(({ row, cwd }) => ({ process: row, cwd }))
  return [{ process: command, cwd: world.processes.cwd(command.pid) }, ...agents].flatMap(({ process, cwd }) =>
    cwd === null ? [] : [{ process, cwd }],
  )
}

/** What a shared daemon does for others may be in the cgroup of a run, and below its command. */
async function isItsOwn(world: LookPorts, run: RunRecord, process: ProcessId, command: ProcessId): Promise<boolean> {
  if (sameProcess(process, command)) return true
  return (await censusOf(run, world, false)).members.some(({ row }) => sameProcess(row, process))
}
