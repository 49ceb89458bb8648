import type { Alone, DaemonPlace, World } from '../../app/index.ts'
import { newMarker } from '../../app/index.ts'
import type { DaemonRecord } from '../../model/index.ts'
import { isHelperMarker, Problem, sameProcess } from '../../model/index.ts'

/** Takes the home, or says who has it. Somebody who only repairs it is waited for. */
export async function takeHome({ clock, policy }: World, place: DaemonPlace): Promise<Alone> {
  const until = clock.elapsed() + policy.daemonLockMs
  for (;;) {
    const alone = place.take()
    if (alone !== null) {
      const other = place.lockless()
      if (other === null) return alone
      alone.release()
      throw held(`the daemon (pid ${other.process.pid}) runs in this home, although its lock file was taken away; it takes it again by itself`)
    }
    const presence = place.presence()
    const pid = presence.kind === 'alive' ? presence.process.pid : presence.kind === 'unseen' ? (presence.record?.process.pid ?? null) : null
    const isKnown = presence.kind === 'unseen' || (presence.kind === 'alive' && presence.record !== null)
    if (isKnown || clock.elapsed() >= until) throw held(`the daemon${pid === null ? '' : ` (pid ${pid})`} runs in this home already`)
    await clock.sleep(policy.pollMaxMs)
  }
}

const held = (message: string): Problem => new Problem('daemon-running', message, { hint: 'holdfast daemon status tells how it does' })

/** One that is proven: alive, with a record of its own. */
export function otherDaemon(place: DaemonPlace, own: DaemonRecord): DaemonRecord | null {
  const presence = place.presence()
  const record = presence.kind === 'alive' ? presence.record : null
  return record === null || sameProcess(record.process, own.process) ? null : record
}

/** One that would end with its first round does not begin. Whatever else is wrong with the store is a matter of the rounds. */
export async function refuseNewerStore(world: World): Promise<void> {
  try {
    await world.store('reader')
  } catch (error) {
    if (isOfNewer(error)) throw error
  } finally {
    world.close()
  }
}

/** The store was written by a newer Holdfast, which this one must not serve. */
export const isOfNewer = (error: unknown): error is Problem => error instanceof Problem && error.id === 'store-newer'

/** One that was started by hand inside a run takes a marker of its own, and leaves the run's cgroup: it outlives that run. */
export function ownMarker({ processes, keepers, cgroups, containers }: World): number | null {
  const given = processes.marker(process.pid)
  const base = cgroups.base()
  if (base.kind === 'base' && base.inside) containers.admit(base.path, process.pid)
  if (typeof given === 'number' && isHelperMarker(given)) return given
  if (keepers.markerTrouble() !== null) return given ?? null
  const marker = newMarker('helper')
  return keepers.mark(process.pid, marker) ? marker : (given ?? null)
}
