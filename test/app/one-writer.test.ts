import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import { seeAll } from '../../src/app/see/look-at-sessions.ts'
import { start } from '../../src/app/start/start.ts'
import type { LiveRun, ProcessId } from '../../src/model/index.ts'
import { liveRunsOf, Problem } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { aRequest, outside, type Starting, starting } from '../sim/starting.ts'

const CONVERSATIONS = [1, 2, 3].map((digit) => `0000000${digit}-0000-4000-8000-000000000000`)

/** A process of Claude Code, and the conversation that it writes to now. */
type Writer = { readonly process: ProcessId; readonly run: string; writes: string }

type Lives = { readonly lab: Starting; readonly writers: Writer[]; sessions: number; dirs: number }

async function lives(): Promise<Lives> {
  const lab = await starting()
  lab.program('claude')
  for (const id of CONVERSATIONS) lab.conversation(id)
  return { lab, writers: [], sessions: 0, dirs: 0 }
}

type Step = { readonly what: 'start' | 'wrap' | 'drift' | 'move' | 'nest' | 'kill' | 'rename'; readonly which: number; readonly conversation: number }

/** What Claude Code writes of its own process. */
function register({ lab }: Lives, { process: { pid, ticks }, writes }: Writer): void {
  const folder = join(lab.env['HOME'] ?? '', '.claude', 'sessions')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${pid}.json`), JSON.stringify({ pid, sessionId: writes, cwd: lab.dir, procStart: String(ticks), kind: 'interactive' }))
}

const newDir = (told: Lives): string => {
  const dir = join(told.lab.dir, '..', `dir${++told.dirs}`)
  mkdirSync(dir)
  return dir
}

const isAlive = ({ lab }: Lives, { process }: Writer): boolean => lab.sim.processes.sample(process.pid).kind === 'seen'

const liveRuns = async ({ lab }: Lives): Promise<LiveRun[]> => liveRunsOf((await lab.sim.store.sessions.snapshot('live', 100)).views)

/** A session of its own; null: the start was refused. */
async function begun(told: Lives, more: Parameters<typeof aRequest>[1]): Promise<{ run: string; agent: ProcessId } | null> {
  const request = aRequest(told.lab, { session: `s${++told.sessions}`, dir: newDir(told), ...more })
  try {
    const started = await start(told.lab.world, request, undefined, outside)
    const agent = started.kind === 'running' ? told.lab.sim.harnesses.get(started.run.id) : undefined
    return started.kind === 'running' && agent !== undefined ? { run: started.run.id, agent } : null
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

function writing(told: Lives, run: string, process: ProcessId, writes: string): void {
  const writer = { process, run, writes }
  told.writers.push(writer)
  register(told, writer)
}

/** One thing that happens. Of a writer that is not there, nothing does. */
async function happen(told: Lives, { what, which, conversation }: Step): Promise<void> {
  const { lab } = told
  const id = CONVERSATIONS[conversation % CONVERSATIONS.length] ?? ''
  if (what === 'start') {
    const begins = await begun(told, { harness: 'claude', argv: ['--resume', id] })
    return begins === null ? undefined : writing(told, begins.run, begins.agent, id)
  }
  if (what === 'wrap') {
    // A script: not a word of its command line says what it starts.
    const begins = await begun(told, {})
    return begins === null ? undefined : writing(told, begins.run, lab.child(begins.agent, ['claude'], lab.dir), id)
  }
  const alive = told.writers.filter((one) => isAlive(told, one))
  const writer = alive[which % Math.max(1, alive.length)]
  if (writer === undefined) return
  if (what === 'drift') {
    writer.writes = id
    return register(told, writer)
  }
  if (what === 'move') return lab.move(writer.process, newDir(told))
  if (what === 'nest') return writing(told, writer.run, lab.child(writer.process, ['claude'], lab.dir), id)
  if (what === 'kill') return lab.sim.remove(writer.process.pid)
  const run = (await liveRuns(told)).find((one) => one.id === writer.run)
  if (run === undefined) return
  const to = `renamed${++told.sessions}`
  await lab.sim.store.sessions.rebind({ session: run.session, epoch: run.epoch, to, native: null, how: 'test', at: 1 })
}

/** Conversations to which more than one run writes that no fence stops. */
function unfenced(told: Lives): string[] {
  const writers = told.writers.filter((one) => isAlive(told, one) && told.lab.world.fences.intent(one.run) === null)
  return CONVERSATIONS.filter((id) => new Set(writers.filter(({ writes }) => writes === id).map(({ run }) => run)).size > 1)
}

async function afterEachLook(steps: readonly Step[]): Promise<void> {
  const told = await lives()
  for (const [at, step] of steps.entries()) {
    await happen(told, step)
    await seeAll(told.lab.world, 'live')
    expect(unfenced(told), `after ${at + 1} of ${JSON.stringify(steps)}`).toEqual([])
  }
}

const step = (what: Step['what'], which = 0, conversation = 0): Step => ({ what, which, conversation })

verifies('one-owner', 'of two that come to one conversation by drift, by a script or by an agent inside, a look leaves one unfenced', async () => {
  await afterEachLook([step('start'), step('wrap')])
  await afterEachLook([step('start'), step('start', 0, 1), step('drift', 1)])
  await afterEachLook([step('start'), step('start', 0, 1), step('drift', 0, 2), step('drift', 1, 2)])
  await afterEachLook([step('start'), step('start', 0, 1), step('nest', 1)])
  await afterEachLook([step('wrap'), step('move'), step('rename'), step('wrap'), step('kill', 1), step('wrap')])
})

verifies(
  'one-owner',
  'whatever starts, drifts, moves, nests, dies and is renamed: after a look no conversation has two unfenced writers',
  async () => {
    const steps: fc.Arbitrary<Step> = fc.record({
      what: fc.constantFrom('start', 'start', 'wrap', 'wrap', 'drift', 'drift', 'move', 'nest', 'kill', 'rename'),
      which: fc.nat({ max: 20 }),
      conversation: fc.nat({ max: 2 }),
    })
    await fc.assert(fc.asyncProperty(fc.array(steps, { minLength: 3, maxLength: 10 }), afterEachLook), { numRuns: 25 })
  },
)
