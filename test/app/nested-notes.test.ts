import { expect, test } from 'vitest'
import { nestedNotes, noteNested, noteOver, openNotes } from '../../src/app/usage/nested-notes.ts'
import type { World } from '../../src/app/world/world.ts'
import type { Agent, ProcessRow } from '../../src/model/index.ts'
import { simulated } from '../sim/simulated.ts'

/** A session whose agent has started codex by a script of node, which starts the program itself. */
async function wrapped() {
  const sim = await simulated()
  const world = { ...sim, env: {}, ownHarnesses: () => [] } as unknown as World
  const run = await sim.launch('s')
  const row = (pid: number, parent: number): ProcessRow => {
    sim.add({ pid, parent, name: 'codex' })
    const seen = sim.processes.sample(pid)
    if (seen.kind !== 'seen') throw new Error('it was just added')
    return seen.row
  }
  const [launcher, program] = [row(500, 1), row(501, 500)]
  const agent = (one: ProcessRow, launchers: readonly ProcessRow[]): Agent => {
    return { harness: 'codex', row: one, launchers, argv: ['codex', 'exec', 'x'.repeat(5000)], cwd: '/w', nativeId: null, named: null }
  }
  return { sim, world, run, alone: agent(launcher, []), whole: agent(program, [launcher]) }
}

test('an agent is noted once, whether a look saw its launcher first or its program', async () => {
  for (const order of [
    ['alone', 'whole'],
    ['whole', 'alone'],
  ] as const) {
    const lab = await wrapped()
    const notes = order.map((which) => noteNested(lab.world, lab.run, lab[which]))
    expect(notes[0]).toEqual(notes[1])
    expect(notes[0]).toMatchObject({ session: 's.codex-500-0', process: { pid: 500, ticks: 5000 } })
    expect(nestedNotes(lab.world, lab.run.id)).toHaveLength(1)
    lab.sim.close()
  }
})

test('a note holds a bounded part of the command line, and is closed once its end is on record', async () => {
  const { sim, world, run, whole } = await wrapped()
  const noted = noteNested(world, run, whole)
  expect((noted?.argv ?? []).join(' ').length).toBeLessThan(1100)
  expect(openNotes(world, run.id)).toEqual([noted])
  if (noted !== null) noteOver(world, run.id, noted)
  expect(openNotes(world, run.id)).toEqual([])
  sim.close()
})
