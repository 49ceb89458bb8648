import { start } from '../../src/app/start/start.ts'
import { addRequest } from '../../src/app/work/add-request.ts'
import type { World } from '../../src/app/world/world.ts'
import { Problem, type ProblemId, type ProcessId, type WorkRequest } from '../../src/model/index.ts'
import { aRequest, outside, starting } from '../sim/starting.ts'

/** The pid of this very command in the simulated world. */
const SELF = 99_999

/** A world with a repository, claude on PATH, and the steps of a worker. */
export async function workLab() {
  const lab = await starting()
  lab.program('claude')
  const { world, sim, repository, dir } = lab
  const { requests } = sim.store
  const add = async (more: Partial<Parameters<typeof addRequest>[1]> = {}): Promise<WorkRequest> =>
    (await addRequest(world, { text: 'fix it', repo: repository, ...more })).request
  const get = async (id: string): Promise<WorkRequest> => {
    const found = await requests.get(id)
    if (found === null) throw new Error(`no request ${id}`)
    return found
  }
  const claimant = (process: ProcessId = { pid: 7, ticks: 8 }) => ({ process, place: sim.processes.here(), host: 'box' })
  const claim = async (id: string, process?: ProcessId): Promise<{ id: string; token: number }> => {
    const { token, session } = await get(id)
    const known = await sim.store.sessions.find(session, 'exact')
    const seenEpoch = known.kind === 'found' ? known.view.session.epoch : 0
    const seenClaim = await requests.newestClaim()
    const won = await requests.claim({ id, token, seenClaim, seenEpoch, claimant: claimant(process), at: sim.clock.now() })
    if (won === null) throw new Error(`${id} was not claimed`)
    return { id, token: won }
  }
  /** Its agent runs. */
  const launch = async (id: string) => {
    const { session } = await get(id)
    const started = await start(world, aRequest(lab, { session, dir }), undefined, outside)
    if (started.kind !== 'running') throw new Error(`it is ${started.kind}`)
    return started
  }
  const run = async (id: string): Promise<{ holds: { id: string; token: number }; inside: World; run: string }> => {
    const holds = await claim(id)
    const { run: begun, harness } = await launch(id)
    await requests.recordStarted(holds, begun.id, sim.clock.now())
    return { holds, inside: insideOf(begun.marker, harness), run: begun.id }
  }
  /** The same world for a command that the agent started. */
  const insideOf = (marker: number | null, agent: ProcessId): World => ({
    ...world,
    processes: {
      ...world.processes,
      origins: () => [{ pid: SELF, ticks: 1 }, agent],
      marker: (pid) => (pid === SELF ? marker : world.processes.marker(pid)),
    },
  })
  const end = async (id: string, reason: 'no-result' | 'cancelled' = 'no-result'): Promise<void> => {
    const state = reason === 'cancelled' ? 'cancelled' : 'blocked'
    await requests.recordEnded({ id, token: (await get(id)).token }, { state, reason, summary: 's', by: 'agent' }, sim.clock.now())
  }
  return { ...lab, requests, add, get, claim, launch, run, insideOf, end }
}

export async function refusal(work: Promise<unknown>): Promise<{ id: ProblemId; message: string; hint: string | null }> {
  try {
    await work
  } catch (error) {
    if (error instanceof Problem) return { id: error.id, message: error.message, hint: error.hint }
    throw error
  }
  throw new Error('it was not refused')
}
