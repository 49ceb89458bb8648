import type { Fact, Place, Processes, ProcessId } from '../model/index.ts'
import { isDead, isFrozen } from '../model/index.ts'

/**
 * Can a pid recorded at `there` be looked up from `here` at all? Null: yes. A boot id is random, so the same one means the same
 * kernel, whatever the machine is called; another one proves death only on the very machine and home that wrote it.
 */
export function judgePlace(here: Place, there: Place, isNamespaceGone: (pidNamespace: string) => boolean): Fact | null {
  if (here.boot === '' || there.boot === '') return unknown('the boot id could not be read')
  if (here.boot !== there.boot) {
    if (here.machine === '' || here.machine !== there.machine) return unknown('it was started on another machine')
    return here.install === there.install
      ? { kind: 'gone', why: 'the machine was started anew since', waitStatus: null }
      : unknown('it was recorded by another installation before the machine was started anew')
  }
  if (here.pidNamespace === '') return unknown('our own pid namespace could not be read, or /proc shows another one')
  if (here.pidNamespace !== there.pidNamespace) {
    return isNamespaceGone(there.pidNamespace)
      ? gone(`its pid namespace (${there.pidNamespace}) no longer exists`)
      : unknown(`it lives in another pid namespace (${there.pidNamespace})`)
  }
  if (here.timeNamespace !== there.timeNamespace) return unknown('it lives in another time namespace')
  return null
}

/** Is the recorded process alive, gone, or can that not be said? */
export function judge(eyes: Pick<Processes, 'here' | 'sample' | 'isNamespaceGone'>, there: Place, id: ProcessId): Fact {
  const elsewhere = judgePlace(eyes.here(), there, eyes.isNamespaceGone)
  if (elsewhere !== null) return elsewhere
  const sample = eyes.sample(id.pid)
  if (sample.kind === 'absent') return gone('no such process')
  if (sample.kind === 'hidden') return unknown(`pid ${id.pid} could not be read: ${sample.why}`)
  const { row } = sample
  if (row.ticks !== id.ticks) return gone(`pid ${id.pid} now belongs to another process`)
  if (isDead(row.state)) return { kind: 'gone', why: 'it ended (zombie)', waitStatus: row.waitStatus }
  return { kind: 'alive', frozen: isFrozen(row.state) }
}

const unknown = (why: string): Fact => ({ kind: 'unknown', why })
const gone = (why: string): Fact => ({ kind: 'gone', why, waitStatus: null })
