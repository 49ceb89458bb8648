import type { Agent, NestedAgent, Run } from '../../model/index.ts'
import { MS_PER_TICK, sameProcess } from '../../model/index.ts'
import { newRunId } from '../world/ids.ts'
import type { World } from '../world/world.ts'
import { nestedLinesOf, placesIn, placesOf, recordNestedLine } from './usage-baseline.ts'

/** What was noted of one. `over`: its end is on record. */
export type NestedNote = { readonly agent: NestedAgent; readonly over: boolean }

/** All agents that any look has seen inside a run. Two looks may have noted the same one: the first note holds. */
export function nestedNotes(world: Pick<World, 'usageFiles'>, run: string): NestedNote[] {
  const lines = nestedLinesOf(world, run)
  const over = new Set(lines.flatMap((line) => ('nestedOver' in line ? [line.nestedOver] : [])))
  const agents = new Map<string, NestedAgent>()
  for (const line of lines) {
    if (!('nested' in line)) continue
    const key = `${line.nested.process.pid} ${line.nested.process.ticks}`
    if (!agents.has(key)) agents.set(key, line.nested)
  }
  return [...agents.values()].map((agent) => ({ agent, over: over.has(agent.run) }))
}

/** Those whose end is not on record. */
export const openNotes = (world: Pick<World, 'usageFiles'>, run: string): NestedAgent[] =>
  nestedNotes(world, run).flatMap(({ agent, over }) => (over ? [] : [agent]))

/** Both its birth and the time now are known to a tick: it is not younger than this. */
const ROUNDED_TICKS = 2

/** How much of a command line is kept, and how many agents of a run. */
const ARGV_LENGTH = 1024
const MAX_NOTED = 1000

type Notes = Pick<World, 'clock' | 'env' | 'processes' | 'usageFiles'>

/** Writes down an agent that is proven to be a member of the run; null: there are more than anybody would look at. */
export function noteNested(world: Notes, run: Pick<Run, 'id' | 'session' | 'dir'>, agent: Agent): NestedAgent | null {
  const known = nestedNotes(world, run.id)
  const before = known.find((note) => sameProcess(note.agent.process, agent.row))
  if (before !== undefined || known.length >= MAX_NOTED) return before?.agent ?? null
  const nested = nestedFrom(world, run, agent)
  recordNestedLine(world, run.id, { nested })
  return nested
}

export const isNoted = (world: Pick<World, 'usageFiles'>, run: string, { row }: Pick<Agent, 'row'>): boolean =>
  nestedNotes(world, run).some(({ agent }) => sameProcess(agent.process, row))

/** As it is now. */
export function nestedFrom(world: Notes, run: Pick<Run, 'id' | 'session' | 'dir'>, { harness, row, launchers, argv, cwd }: Agent): NestedAgent {
  const { clock, processes } = world
  const parent = processes.sample((launchers[0] ?? row).parent)
  return {
    run: newRunId(),
    session: `${run.session.slice(0, 90)}.${harness}-${row.pid}-${row.ticks % 1000}`,
    harness,
    process: { pid: row.pid, ticks: row.ticks },
    argv: cut(argv.length > 0 ? argv : [row.name]),
    dir: cwd ?? run.dir,
    startedAt: clock.now() - (processes.ticks() - row.ticks + ROUNDED_TICKS) * MS_PER_TICK,
    startedBy: parent.kind === 'seen' ? { pid: parent.row.pid, name: parent.row.name } : null,
    env: { ...placesOf(world, run.id), ...placesIn(processes.environment(row.pid)) },
  }
}

export const noteOver = (world: Pick<World, 'usageFiles'>, run: string, { run: task }: NestedAgent): void =>
  recordNestedLine(world, run, { nestedOver: task })

function cut(argv: readonly string[]): string[] {
  const kept: string[] = []
  let left = ARGV_LENGTH
  for (const word of argv) {
    if (left <= 0) break
    kept.push(word.length <= left ? word : `${word.slice(0, left)}…`)
    left -= word.length + 1
  }
  return kept
}
