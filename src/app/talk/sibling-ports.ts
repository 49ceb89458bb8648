import { censusOfAll, isHere } from '../../act/index.ts'
import type { Run } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** A list is there at once: of whoever is not reached in this time it is not told where it listens. */
const LOOK_MS = 20
/** So many processes are asked before the time is looked at again. */
const ASKED_AT_ONCE = 64

type Group = { readonly run: Run; readonly pids: readonly number[] }

/** Where the members of these runs listen, by run; those that could not be asked are left out. Each time another one comes first. */
export async function portsOf(world: World, runs: readonly Run[]): Promise<ReadonlyMap<string, readonly number[]>> {
  const { processes, clock } = world
  const groups = await membersOf(world, runs)
  const first = Math.floor(clock.random() * groups.length)
  const waiting = [...groups.slice(first), ...groups.slice(0, first)]
  const found = new Map<string, readonly number[]>()
  const until = clock.elapsed() + LOOK_MS
  while (waiting.length > 0 && clock.elapsed() < until) {
    const batch: Group[] = []
    for (let asked = 0; waiting.length > 0 && asked < ASKED_AT_ONCE; asked += batch.at(-1)?.pids.length ?? 0) batch.push(waiting.shift() as Group)
    const ports = processes.ports(batch.flatMap(({ pids }) => pids))
    for (const { run, pids } of batch) found.set(run.id, portsIn(world, run, pids, ports))
  }
  return found
}

/** With a cgroup its members are who is in it, which one small file tells; the others are looked for in one pass over all. */
async function membersOf(world: World, runs: readonly Run[]): Promise<Group[]> {
  const here = runs.filter((run) => isHere(run, world))
  const contained = here.flatMap((run): Group[] => {
    const path = run.containment.level === 'cgroup' ? run.containment.path : world.evidence.cgroup(run.id)
    const view = path === null ? null : world.cgroups.view(path)
    return view?.kind === 'present' && view.pids.size > 0 ? [{ run, pids: [...view.pids] }] : []
  })
  const rest = here.filter((run) => !contained.some((one) => one.run.id === run.id))
  const counted = await censusOfAll(rest, world)
  return [...contained, ...counted.map(([run, { members }]) => ({ run, pids: members.map(({ row }) => row.pid) }))]
}

/** Who carries the marker of another run, or a helper's, is not of this one, wherever it is. */
function portsIn(
  { processes }: Pick<World, 'processes'>,
  run: Run,
  pids: readonly number[],
  ports: ReadonlyMap<number, readonly number[]>,
): number[] {
  const own = pids.filter((pid) => ports.has(pid) && (run.marker === null || run.adopted || (processes.marker(pid) ?? run.marker) === run.marker))
  return [...new Set(own.flatMap((pid) => ports.get(pid) ?? []))].toSorted((one, other) => one - other)
}
