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
  const before = known.find((note) => isSame(note.agent, agent))
  if (before !== undefined || known.length >= MAX_NOTED) return before?.agent ?? null
  const nested = nestedFrom(world, run, agent)
  recordNestedLine(world, run.id, { nested })
  return nested
}

/** What only launched it is the same agent: a look may have seen that alone, before there was more. */
export const isSame = ({ process: noted }: NestedAgent, { row, launchers }: Pick<Agent, 'row' | 'launchers'>): boolean =>
  [row, ...launchers].some((one) => sameProcess(noted, one))

export const isNoted = (world: Pick<World, 'usageFiles'>, run: string, agent: Pick<Agent, 'row' | 'launchers'>): boolean =>
  nestedNotes(world, run).some((note) => isSame(note.agent, agent))

/** As it is now. It is known by its outermost process, which lives as long as it does. */
export function nestedFrom(world: Notes, run: Pick<Run, 'id' | 'session' | 'dir'>, { harness, row, launchers, argv, cwd }: Agent): NestedAgent {
  const { clock, processes } = world
  const outermost = launchers[0] ?? row
  const parent = processes.sample(outermost.parent)
  return {
    run: newRunId(),
    session: `${run.session.slice(0, 90)}.${harness}-${outermost.pid}-${outermost.ticks % 1000}`,
    harness,
    process: { pid: outermost.pid, ticks: outermost.ticks },
    argv: cut(argv.length > 0 ? argv : [row.name]),
    dir: cwd ?? run.dir,
    startedAt: clock.now() - (processes.ticks() - outermost.ticks + ROUNDED_TICKS) * MS_PER_TICK,
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
