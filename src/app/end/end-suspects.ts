import { isThere, untilGone } from '../../act/index.ts'
import type { ProcessRow } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import { runsInQuestion, suspectsOfRuns } from '../agent/suspects.ts'
import type { World } from '../world/world.ts'

export type EndedSuspect = { readonly pid: number; readonly name: string; readonly session: string; readonly result: 'ended' | 'survives' | 'denied' }

/** On a person's word, after looking again: only who is a suspect now, by the identity seen now. Nothing it started is touched. */
export async function endSuspects(world: World, pids: readonly number[], graceMs: number): Promise<EndedSuspect[]> {
  const found = new Map<number, { row: ProcessRow; session: string }>()
  for (const [run, suspects] of await suspectsOfRuns(world, await runsInQuestion(world)))
    for (const { row } of suspects) if (!found.has(row.pid)) found.set(row.pid, { row, session: run.session })
  const stranger = pids.find((pid) => !found.has(pid))
  if (stranger !== undefined)
    throw new Problem('suspect-unknown', `pid ${stranger} is no suspect of any session; nothing was signalled`, {
      hint: 'holdfast tree S --suspects lists them; holdfast stop S ends a session with its members',
    })
  return Promise.all(
    pids.map(async (pid) => {
      const { row, session } = found.get(pid) as { row: ProcessRow; session: string }
      return { pid, name: row.name, session, result: await endOne(world, row, graceMs) }
    }),
  )
}

async function endOne(world: World, row: ProcessRow, graceMs: number): Promise<EndedSuspect['result']> {
  const { processes, policy } = world
  for (const [signal, ms] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', policy.killMs],
  ] as const) {
    const answer = processes.send(row, signal)
    if (answer === 'denied' || answer === 'forbidden') return 'denied'
    processes.send(row, 'SIGCONT')
    await untilGone([row], world, ms)
    if (!isThere(row, processes)) return 'ended'
  }
  return 'survives'
}
