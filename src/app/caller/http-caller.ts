import type { Connection, Processes, ProcessId } from '../../model/index.ts'
import { sameProcess } from '../../model/index.ts'
import type { World } from '../world/world.ts'

/** Who has the other end of a connection: one process, or why that cannot be told. `origins`: itself and those it was started from. */
export type Speaker = { readonly kind: 'process'; readonly origins: readonly ProcessId[] } | { readonly kind: 'unknown'; readonly why: string }

/** On loopback the kernel knows it. `isOpen`: our end of it was open all the time, so it was one and the same connection. */
export async function speakerOf(
  world: Pick<World, 'clock' | 'connections' | 'policy' | 'processes'>,
  connection: Connection,
  isOpen: () => boolean,
): Promise<Speaker> {
  const { clock, connections, policy, processes } = world
  let holders = connections.holders(connection)
  for (let looks = 1; holders.pids.length > 1 && looks < policy.speakerLooks; looks++) {
    await clock.sleep(policy.pollMinMs * 2 ** looks)
    holders = connections.holders(connection)
  }
  const [pid, ...more] = holders.pids
  if (pid === undefined) return unknown('no process of yours that can be looked at has the other end of the connection')
  if (more.length > 0) return unknown(`${more.length + 1} processes have the other end of the connection (pids ${holders.pids.join(', ')})`)
  if (!connections.livesIn(pid, processes.here().pidNamespace))
    return unknown(`the other end of the connection is in another pid namespace (pid ${pid})`)
  const origins = originsOf(processes, pid)
  // Only now it is certain of whom all this was said.
  if (origins.length === 0 || !holders.hasStill(pid)) return unknown(`pid ${pid} had the other end of the connection, and has it no longer`)
  return isOpen() ? { kind: 'process', origins } : unknown('the connection was closed meanwhile')
}

const unknown = (why: string): Speaker => ({ kind: 'unknown', why })
const MAX_ORIGINS = 100

function originsOf(processes: Processes, first: number): ProcessId[] {
  const origins: ProcessId[] = []
  for (let pid = first; pid > 0 && origins.length < MAX_ORIGINS; ) {
    const seen = processes.sample(pid)
    if (seen.kind !== 'seen' || origins.some((one) => one.pid === pid)) break
    origins.push({ pid, ticks: seen.row.ticks })
    pid = seen.row.parent
  }
  return origins
}

/**
 * The world as the speaker's own child would see it: with its marker, its environment, and started from it. In the first place, where one finds
 * oneself, stands the speaker too: what this very process holds is not the speaker's.
 */
export function onBehalfOf(world: World, speaker: Speaker): World {
  const { processes } = world
  const self = processes.self().pid
  const first = speaker.kind === 'process' ? speaker.origins[0] : undefined
  const seen = first === undefined ? null : processes.sample(first.pid)
  if (speaker.kind === 'unknown' || first === undefined || seen?.kind !== 'seen' || !sameProcess(seen.row, first)) {
    const why = speaker.kind === 'unknown' ? speaker.why : `pid ${first?.pid}, which asked, is gone`
    const blank: Processes = { ...processes, origins: () => [], marker: (pid) => (pid === self ? null : processes.marker(pid)) }
    return { ...world, env: {}, processes: blank, actingFor: { unknown: why, umask: null } }
  }
  const { HOLDFAST_FRONT: _, ...env } = processes.environment(first.pid)
  return {
    ...world,
    env,
    processes: {
      ...processes,
      origins: () => [first, ...speaker.origins],
      marker: (pid) => processes.marker(pid === self ? first.pid : pid),
    },
    actingFor: { unknown: null, umask: world.connections.umask(first.pid) },
  }
}
