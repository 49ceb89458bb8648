import type { Processes, ProcessId } from '../model/index.ts'
import { sameProcess } from '../model/index.ts'
import { type Connection, holdersOf, livesIn, umaskOf } from '../observe/index.ts'
import type { World } from './world.ts'

export type { Connection } from '../observe/index.ts'

/** Who has the other end of a connection: one process, or why that cannot be told. `origins`: itself and those it was started from. */
export type Peer = { readonly kind: 'process'; readonly origins: readonly ProcessId[] } | { readonly kind: 'stranger'; readonly why: string }

/** On loopback the kernel knows it. `isOpen`: our end of it was open all the time, so it was one and the same connection. */
export async function peerOf(world: World, connection: Connection, isOpen: () => boolean): Promise<Peer> {
  const { clock, policy, processes } = world
  let holders: readonly number[] | null = []
  for (let looks = 0; looks < policy.peerLooks; looks++) {
    if (looks > 0) await clock.sleep(policy.pollMinMs * 2 ** looks)
    holders = holdersOf(connection)
    if (holders !== null && holders.length < 2) break
  }
  if (!isOpen()) return stranger('the connection was closed meanwhile')
  const [pid, ...more] = holders ?? []
  if (pid === undefined) return stranger('no process of yours that can be looked at has the other end of the connection')
  if (more.length > 0) return stranger(`${more.length + 1} processes have the other end of the connection (pids ${(holders ?? []).join(', ')})`)
  if (!livesIn(pid, processes.here().pidNamespace)) return stranger(`the other end of the connection is in another pid namespace (pid ${pid})`)
  const origins = originsOf(processes, pid)
  return origins.length === 0 ? stranger(`pid ${pid}, which had the other end of the connection, is gone`) : { kind: 'process', origins }
}

const stranger = (why: string): Peer => ({ kind: 'stranger', why })
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
 * The world as the peer's own child would see it: with its marker, its environment, and started from it. In the first place, where one finds
 * oneself, stands the peer too: what this very process holds is not the peer's.
 */
export function onBehalfOf(world: World, peer: Peer): World {
  const { processes } = world
  const self = processes.self().pid
  const first = peer.kind === 'process' ? peer.origins[0] : undefined
  const seen = first === undefined ? null : processes.sample(first.pid)
  if (peer.kind === 'stranger' || first === undefined || seen?.kind !== 'seen' || !sameProcess(seen.row, first)) {
    const why = peer.kind === 'stranger' ? peer.why : `pid ${first?.pid}, which asked, is gone`
    const blank: Processes = { ...processes, origins: () => [], marker: (pid) => (pid === self ? null : processes.marker(pid)) }
    return { ...world, env: {}, processes: blank, behalf: { stranger: why, umask: null } }
  }
  const { HOLDFAST_FRONT: _, ...env } = processes.environment(first.pid)
  return {
    ...world,
    env,
    processes: {
      ...processes,
      origins: () => [first, ...peer.origins],
      marker: (pid) => processes.marker(pid === self ? first.pid : pid),
    },
    behalf: { stranger: null, umask: umaskOf(first.pid) },
  }
}
