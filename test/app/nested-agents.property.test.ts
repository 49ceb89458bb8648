import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { noteAgents, recordEndedNested } from '../../src/app/conversation/nested.ts'
import { tokensOfNested } from '../../src/app/usage/count-nested.ts'
import { tokensOf } from '../../src/app/usage/count-tokens.ts'
import { openNotes } from '../../src/app/usage/nested-notes.ts'
import { beginUsageNew, recordPlaces } from '../../src/app/usage/usage-baseline.ts'
import type { World } from '../../src/app/world/world.ts'
import { HARNESSES } from '../../src/harness/index.ts'
import type { Agent, Harness, LiveRun, Member, ProcessRow } from '../../src/model/index.ts'
import { isLive } from '../../src/model/index.ts'
import { simulated } from '../sim/simulated.ts'

const CONVERSATIONS = ['main-0', 'main-1', 'a', 'b', 'c'] as const
const RUNS = 2
const claude = HARNESSES.find(({ name }) => name === 'claude') as Harness

/** `who`: a session's own agent, or the n-th of those that live inside it. */
type Step =
  | { readonly kind: 'start'; readonly run: number; readonly conversation: number }
  | { readonly kind: 'move'; readonly run: number; readonly who: number; readonly conversation: number }
  | { readonly kind: 'spend'; readonly run: number; readonly who: number; readonly tokens: number }
  | { readonly kind: 'end'; readonly run: number; readonly who: number }
  | { readonly kind: 'look' }
  | { readonly kind: 'over'; readonly run: number }

type Inside = { row: ProcessRow; conversation: string }

/** Two sessions, whose agents start others inside. What is spent is written down as claude does it; the model only adds it up. */
async function play(steps: readonly Step[]): Promise<{ readonly spent: number; readonly shown: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'hf-nested-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const projects = join(folder, 'projects', '-w')
  mkdirSync(projects, { recursive: true })
  const sim = await simulated()
  const env = { CLAUDE_CONFIG_DIR: folder }
  const more = { env, readDatabase: () => null, harnesses: () => HARNESSES, directories: { bornAt: () => null } }
  const world = { ...sim, ...more } as unknown as World
  const runs: LiveRun[] = []
  const inside: Inside[][] = []
  const frozen: (number | null)[] = []
  let [spent, pid, answers] = [0, 1000, 0]
  for (let index = 0; index < RUNS; index++) {
    const run = await sim.launch(`s${index}`, { id: `r00000000000${index}`, startedAt: sim.clock.now(), keeper: { pid: 200 + index, ticks: 2000 } })
    recordPlaces(world, run.id, env)
    beginUsageNew(world, run, claude, `main-${index}`)
    world.agentState.recordNative(run.id, { harness: 'claude', id: `main-${index}` })
    runs.push(run)
    inside.push([])
    frozen.push(null)
  }

  const look = async (): Promise<void> => {
    for (const [index, run] of runs.entries()) if (frozen[index] === null) await recordEndedNested(world, sim.store, run)
    for (const [index, run] of runs.entries()) {
      if (frozen[index] !== null) continue
      const agents = (inside[index] ?? []).map(({ row, conversation }): Agent => {
        return { harness: 'claude', row, launchers: [], argv: ['claude'], cwd: '/w', nativeId: conversation, named: null }
      })
      const members = agents.map(({ row }): Member => ({ row, proof: 'descendant' }))
      await noteAgents(world, sim.store, run, agents, members)
    }
  }
  const write = (conversation: string, tokens: number): void => {
    answers++
    spent += tokens
    const message = { id: `m${answers}`, usage: { input_tokens: tokens } }
    const line = { type: 'assistant', timestamp: new Date(sim.clock.now()).toISOString(), message }
    appendFileSync(join(projects, `${conversation}.jsonl`), `${JSON.stringify(line)}\n`)
  }

  for (const step of steps) {
    await sim.clock.sleep(50)
    const run = 'run' in step ? runs[step.run] : undefined
    const agents = 'run' in step ? inside[step.run] : undefined
    if (step.kind === 'look') await look()
    if (!('run' in step) || run === undefined || agents === undefined || frozen[step.run] !== null) continue
    const one = 'who' in step ? agents[step.who] : undefined
    if (step.kind === 'spend') write(one?.conversation ?? `main-${step.run}`, step.tokens)
    if (step.kind === 'start') {
      pid++
      sim.add({ pid, name: 'claude', ticks: sim.processes.ticks() })
      const seen = sim.processes.sample(pid)
      if (seen.kind === 'seen') agents.push({ row: seen.row, conversation: CONVERSATIONS[step.conversation] ?? 'a' })
      await look()
    }
    if (step.kind === 'move' && one !== undefined) {
      one.conversation = CONVERSATIONS[step.conversation] ?? 'a'
      await look()
    }
    if (step.kind === 'end' && one !== undefined) {
      sim.remove(one.row.pid)
      agents.splice(step.who, 1)
    }
    if (step.kind === 'over') {
      for (const { row } of agents.splice(0)) sim.remove(row.pid)
      frozen[step.run] = totalOf(world, run)
      const ending = { state: 'completed', exit: { code: 0, signal: null }, reason: 'it ended', evidence: [], by: 'keeper', usage: null } as const
      expect(await sim.store.claims.recordEnded(run, ending, null, sim.clock.now())).toBe(true)
      await recordEndedNested(world, sim.store, (await sim.store.runs.get(run.id)) ?? run)
    }
  }
  await sim.clock.sleep(50)
  await look()

  let shown = 0
  for (const [index, run] of runs.entries()) {
    shown += frozen[index] ?? totalOf(world, run)
    for (const task of await sim.store.runs.startedIn(run.id, 1000)) if (!isLive(task)) shown += task.usage?.tokens?.input ?? 0
    for (const agent of openNotes(world, run.id)) shown += tokensOfNested(world, run.id, agent, 'all')?.input ?? 0
  }
  sim.close()
  return { spent, shown }
}

const totalOf = (world: World, run: LiveRun): number => tokensOf(world, run.id)?.input ?? 0

const isTrue = async (steps: readonly Step[]): Promise<void> => {
  const { spent, shown } = await play(steps)
  expect(shown).toBe(spent)
}

const start = (conversation: number, run = 0): Step => ({ kind: 'start', run, conversation })
const spend = (who: number, run = 0): Step => ({ kind: 'spend', run, who, tokens: 7 })
const end = (who: number, run = 0): Step => ({ kind: 'end', run, who })
const over = (run: number): Step => ({ kind: 'over', run })
const look: Step = { kind: 'look' }
const OWN = 9

const EXAMPLES: readonly [string, Step[]][] = [
  ['an agent inside spends beside its session', [spend(OWN), start(2), spend(0), spend(OWN), look, spend(0)]],
  ['it ends, and nobody looks until later', [start(2), spend(0), end(0), spend(OWN)]],
  ['the next one goes on with its conversation', [start(2), spend(0), end(0), start(2), spend(0), look, spend(0)]],
  ['one in another session goes on with it', [start(2), spend(0), end(0), start(2, 1), spend(0, 1)]],
  ['two have it at once, and the first one ends', [start(2), start(2), spend(0), spend(1), end(0), spend(0), look, spend(0)]],
  ['it goes on with the conversation of its own session', [start(0), spend(0), spend(OWN), end(0), spend(OWN)]],
  ['it goes on with that of another session, which ends', [start(1), spend(0), spend(OWN, 1), over(1), look, spend(0)]],
  [
    'it moves, and comes back',
    [start(2), spend(0), { kind: 'move', run: 0, who: 0, conversation: 3 }, spend(0), { kind: 'move', run: 0, who: 0, conversation: 2 }, spend(0)],
  ],
  ['its session ends with it', [start(2), spend(0), over(0), start(2, 1), spend(0, 1)]],
]
test.each(EXAMPLES)('all that is shown is all that was spent: %s', async (_, steps) => isTrue(steps))

test('in any history, the sum of all that is shown is the sum of all that was spent', async () => {
  const run = fc.nat({ max: RUNS - 1 })
  const who = fc.nat({ max: 3 })
  const conversation = fc.nat({ max: CONVERSATIONS.length - 1 })
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('start' as const), run, conversation }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('move' as const), run, who, conversation }) },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('spend' as const), run, who, tokens: fc.integer({ min: 1, max: 1000 }) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), run, who }) },
    { weight: 2, arbitrary: fc.constant(look) },
    { weight: 1, arbitrary: run.map(over) },
  )
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), isTrue), { numRuns: 40 })
}, 120_000)
