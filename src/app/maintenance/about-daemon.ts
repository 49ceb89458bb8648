import { type DaemonPresence, Problem } from '../../model/index.ts'
import type { Finding } from '../../show/index.ts'
import { type DaemonPlace, daemonPlace, folderProblem } from '../daemon/place.ts'
import type { World } from '../world/world.ts'

/** What is to be said of this home's daemon. It is not asked: `daemon status` does that. */
export function aboutDaemon(world: Pick<World, 'connections' | 'home' | 'processes'>): Finding[] {
  const place = daemonPlace(world)
  try {
    return about(place)
  } catch (raw) {
    const error = folderProblem(place, raw)
    if (!(error instanceof Problem)) throw error
    return [trouble(error.message, error.hint ?? 'move away what lies there')]
  }
}

function about({ files, presence }: DaemonPlace): Finding[] {
  const seen = presence()
  const health = seen.kind === 'alive' ? files.health() : null
  const status = 'holdfast daemon status says more'
  if (health?.healthy === false) return [trouble(`${who(seen)}, and is not well: ${health.why ?? ''}`, status)]
  if (seen.kind === 'alive' && seen.frozen) return [trouble(`${who(seen)}, and is stopped (SIGSTOP)`, 'kill -CONT wakes it; nothing waits for it')]
  if (seen.kind === 'dead')
    return [
      {
        topic: 'daemon',
        level: 'note',
        what: `${who(seen)}, and left ${seen.remains.join(', ')}`,
        next: 'holdfast daemon start, or status, repairs that',
      },
    ]
  return [{ topic: 'daemon', level: 'fine', what: who(seen), next: seen.kind === 'none' ? 'holdfast daemon start' : status }]
}

const trouble = (what: string, next: string): Finding => ({ topic: 'daemon', level: 'trouble', what, next })

function who(presence: DaemonPresence): string {
  if (presence.kind === 'none') return 'none runs, and nothing needs one'
  if (presence.kind === 'dead') return 'the last one did not clear up'
  if (presence.kind === 'unseen') return `one holds this home, and cannot be judged from here: ${presence.why}`
  return `it runs (pid ${presence.process.pid}, ${presence.record === null ? 'coming up' : `${presence.record.version}, started by ${presence.record.startedBy}`})`
}
