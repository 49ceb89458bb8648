import type { DaemonLook, DaemonPresence, DaemonRecord } from '../model/index.ts'
import { sameProcess } from '../model/index.ts'

/**
 * Who is a home's daemon, if anybody? The lock decides, since the kernel holds it; the record only says whose it is. A file that was
 * taken away is the one way in which a living daemon has no lock: then the record must do, if that very process still has it open.
 */
export function presenceOf({ lock, holder, record, fact, hasLockFileOpen, remains }: DaemonLook): DaemonPresence {
  if (lock === 'free') {
    if (record !== null && fact?.kind === 'alive' && hasLockFileOpen) return { kind: 'alive', process: record.process, frozen: fact.frozen, record }
    return record === null && remains.length === 0 ? { kind: 'none' } : { kind: 'dead', record, remains }
  }
  // A record of somebody else was left by a dead one, and is about to be replaced.
  if (holder !== null && (record === null || !sameProcess(record.process, holder)))
    return { kind: 'alive', process: holder, frozen: false, record: null }
  if (record === null) return { kind: 'unseen', record, why: 'whoever holds the home has no record there, and cannot be seen from here' }
  if (fact?.kind === 'alive') return { kind: 'alive', process: record.process, frozen: fact.frozen, record }
  const why = fact?.kind === 'unknown' ? fact.why : `the daemon on record (pid ${pidOf(record)}) is gone, and another one cannot be seen from here`
  return { kind: 'unseen', record, why }
}

const pidOf = ({ process: { pid } }: DaemonRecord): number => pid
