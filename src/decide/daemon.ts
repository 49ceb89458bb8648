import type { ServedSession, SharedDaemon, Spared } from '../model/index.ts'

/** What follows for the shared daemons that were born in a run. */
export type DaemonFate = {
  /** Left alone: they serve others, or it could not be told. */
  readonly spared: readonly Spared[]
  /** Whose they are not, although a spared daemon started them: they work for this very run. */
  readonly ours: readonly number[]
  /** Others that the daemon started and that may have lost it as their parent. */
  readonly others: readonly number[]
  /** The harness's own ways to end what is ours, to be tried before anything is signalled. */
  readonly ask: readonly { readonly of: number; readonly command: readonly string[] }[]
}

/**
 * A session is ours if it was begun in this very directory while the run had it: that is all a registry tells. One that is older, below, or
 * does not say since when it runs is somebody else's.
 */
export function fateOfDaemons(daemons: readonly SharedDaemon[], run: { readonly dir: string; readonly startedAt: number }): DaemonFate {
  const isOurs = ({ dir, since }: ServedSession): boolean => dir === run.dir && since !== null && since >= run.startedAt
  const fates = daemons.map((daemon) => {
    const { row, what, served, stop } = daemon
    if (served === null) return { spared: [{ row, why: `${what}; it could not be told whom it serves` }], ours: [], others: [], ask: [] }
    const ours = served.filter(isOurs)
    const others = served.filter((session) => !isOurs(session))
    if (others.length === 0) return { spared: [], ours: [], others: [], ask: stop === null ? [] : [{ of: row.pid, command: stop }] }
    const names = others.map((session) => session.dir).join(', ')
    return {
      spared: [{ row, why: `${what}; it also serves ${others.length === 1 ? 'a session' : `${others.length} sessions`} elsewhere (${names})` }],
      ours: ours.flatMap(({ pids }) => pids),
      others: others.flatMap(({ pids }) => pids),
      ask: ours.flatMap((session) => (session.stop === null ? [] : [{ of: row.pid, command: session.stop }])),
    }
  })
  return {
    spared: fates.flatMap((fate) => fate.spared),
    ours: fates.flatMap((fate) => fate.ours),
    others: fates.flatMap((fate) => fate.others),
    ask: fates.flatMap((fate) => fate.ask),
  }
}
