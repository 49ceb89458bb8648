import { judgePlace, type Neighbours, neighboursFrom } from '../../decide/index.ts'
import type { ProcessId } from '../../model/index.ts'
import { cgroupStem, LINEAGE_VARIABLE } from '../../model/index.ts'
import type { LookPorts } from '../ports.ts'

/** All live runs on record, asked after everybody was looked at: a run that was claimed before that is known. Answers are kept for one pass. */
export async function neighbours({ processes, cgroups, evidence, ownDaemon, liveRoots }: LookPorts): Promise<Neighbours> {
  const here = processes.here()
  const roots = await liveRoots()
  const local = roots.map((one) => (judgePlace(here, one.place, processes.isNamespaceGone) === null ? one : { ...one, root: null }))
  const stem = cgroupStem(here.install)
  const origins = processes.origins()
  let daemon: { readonly is: ProcessId | null } | null = null
  return neighboursFrom(local, {
    helper: origins.length === 1 ? processes.self() : null,
    server: evidence.server,
    daemon: () => {
      daemon ??= { is: ownDaemon() }
      return daemon.is
    },
    secrets: remembering((pid) => (processes.environment(pid)[LINEAGE_VARIABLE] ?? '').split(':').filter(isSecret)),
    cgroupRun: remembering((pid) => {
      const name = cgroups.nameOf(pid)
      return name?.startsWith(stem) === true ? name.slice(stem.length).replace(/\.scope$/, '') : null
    }),
  })
}

/** Anything may stand in an environment; only what one of ours has made counts. */
const isSecret = (word: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(word)

function remembering<T>(ask: (pid: number) => T): (pid: number) => T {
  const answers = new Map<number, T>()
  return (pid) => {
    if (!answers.has(pid)) answers.set(pid, ask(pid))
    return answers.get(pid) as T
  }
}
