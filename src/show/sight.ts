import type { Member, Run, Session } from '../model/index.ts'
import { isLive } from '../model/index.ts'
import { attachCommand } from './holder.ts'
import { iso } from './time.ts'

/** A session as it was just seen: its newest run, converged, with what could be told about its processes. */
export type Sight = {
  readonly session: Session
  readonly run: Run
  readonly liveness: 'alive' | 'dead' | 'unknown'
  readonly pid: number | null
  /** What could not be told, or what is under way. */
  readonly note: string | null
  readonly tasks: readonly string[]
}

/** The stable object of `status --json` and of each entry of `ls --json`. */
export function sightJson({ session, run, liveness, pid, note, tasks }: Sight): Record<string, unknown> {
  const ended = isLive(run) ? null : run
  return {
    session: session.id,
    name: session.name,
    run: run.id,
    epoch: run.epoch,
    state: run.state,
    liveness,
    pid,
    keeper: run.keeper?.pid ?? null,
    dir: run.dir,
    harness: null,
    nativeId: null,
    argv: run.argv,
    detached: run.detached,
    startedAt: iso(run.startedAt),
    endedAt: iso(ended?.endedAt ?? null),
    exit: ended?.exit ?? (run.state === 'stopping' ? run.exit : null),
    reason: ended?.reason ?? (run.state === 'stopping' ? (run.intent?.reason ?? null) : null),
    evidence: ended?.evidence ?? [],
    endedBy: ended?.by ?? null,
    note,
    survivors: run.state === 'stopping' ? run.survivors : [],
    owner:
      ended === null
        ? {
            host: run.host,
            user: run.user,
            pid: pid ?? run.keeper?.pid ?? run.launcher.pid,
            since: iso(run.startedAt),
            tty: run.tty,
            attach: attachCommand(run),
          }
        : null,
    parent: run.parent,
    tasks,
    usage: null,
  }
}

export const memberJson = ({ row, proof }: Member): Record<string, unknown> => ({
  pid: row.pid,
  parent: row.parent,
  group: row.group,
  session: row.session,
  uid: row.uid,
  state: row.state,
  name: row.name,
  proof,
})
