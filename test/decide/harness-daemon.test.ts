import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FoundDaemon, fateOfDaemons, type RunOfDaemon } from '../../src/decide/index.ts'
import type { Asking, NativeId, ServedSession } from '../../src/model/index.ts'
import { describeAsking } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { row } from './build.ts'

const command = (...words: string[]): Asking => ({ kind: 'command', command: words })
const run: RunOfDaemon = { dir: '/work', startedAt: 100, handsTo: null, worksThrough: null, exitAt: null }
const handed: RunOfDaemon = { ...run, handsTo: 'claude', exitAt: 200 }
const of = (pid: number) => ({ pid, ticks: pid * 10 })
const session = (id: string, over: Partial<ServedSession> = {}): ServedSession => ({
  nativeId: id,
  dir: '/work',
  since: 150,
  processes: [of(Number(id))],
  active: true,
  stop: command('claude', 'stop', id),
  ...over,
})
const daemon = (served: FoundDaemon['served'], over: Partial<FoundDaemon> = {}): FoundDaemon => ({
  row: row(500),
  what: 'D',
  harness: 'claude',
  served,
  stop: command('claude', 'daemon', 'stop'),
  born: true,
  ...over,
})
const claude = (...ids: string[]): NativeId[] => ids.map((id) => ({ harness: 'claude', id }))
const nothing = { spared: [], ours: [], others: [], natives: [], foreign: [], served: [], ask: [], near: [], blind: null }

describe("a harness's shared daemon that was born in the run", () => {
  verifies('unknown', 'is spared when it cannot be told whom it serves', () => {
    const why = 'D; it could not be told whom it serves'
    expect(fateOfDaemons([daemon(null)], run, [])).toEqual({ ...nothing, spared: [{ row: row(500), why }] })
    expect(fateOfDaemons([daemon(null)], run, claude('1')).blind).toBeNull()
  })
  verifies('unknown', 'a run that has handed its session over is unknown then, and not over', () => {
    for (const born of [true, false])
      expect(fateOfDaemons([daemon(null, { born })], handed, claude('1')).blind).toBe('D (pid 500) does not tell whom it serves')
    expect(fateOfDaemons([daemon(null, { harness: 'codex' })], handed, claude('1')).blind).toBeNull()
  })
  test('that serves only us is asked to end', () => {
    expect(fateOfDaemons([daemon([session('1')])], run, []).ask).toEqual([{ of: 500, asking: command('claude', 'daemon', 'stop') }])
    expect(fateOfDaemons([daemon([])], run, claude('1')).ask).toHaveLength(1)
    expect(fateOfDaemons([daemon([], { stop: null })], run, [])).toEqual(nothing)
  })
  verifies('innocent', "without an id on record, a session that is older, below, or does not say since when, is somebody else's", () => {
    for (const other of [session('1', { since: 99 }), session('1', { since: null }), session('1', { dir: '/work/sub' })])
      expect(fateOfDaemons([daemon([other])], run, [])).toMatchObject({ spared: [{}], ours: [], others: [of(1)], ask: [] })
  })
  verifies('innocent', 'that serves others is spared with theirs; ours is asked to end by itself', () => {
    expect(fateOfDaemons([daemon([session('1'), session('2', { dir: '/workshop', processes: [of(2), of(3)] })])], run, [])).toEqual({
      spared: [{ row: row(500), why: 'D; it also serves a session elsewhere (/workshop)' }],
      ours: [of(1)],
      others: [of(2), of(3)],
      natives: claude('1'),
      foreign: claude('2'),
      served: [{ row: row(500), processes: [of(1)], why: 'D still works on session 1' }],
      ask: [{ of: 500, asking: command('claude', 'stop', '1') }],
      near: [],
      blind: null,
    })
  })
  verifies('innocent', 'with an id on record only that is ours, whatever is begun in our directory', () => {
    expect(fateOfDaemons([daemon([session('1'), session('2')])], run, claude('2'))).toMatchObject({ ours: [of(2)], others: [of(1)], spared: [{}] })
    expect(fateOfDaemons([daemon([session('1', { nativeId: null })])], run, claude('2'))).toMatchObject({ ours: [], spared: [{}] })
    expect(fateOfDaemons([daemon([session('1', { firstId: '2' })])], run, claude('2'))).toMatchObject({
      ours: [of(1)],
      natives: claude('2', '2', '1'),
    })
    const elsewhere = session('2', { dir: '/moved', since: 1 })
    expect(fateOfDaemons([daemon([elsewhere])], run, claude('2'))).toMatchObject({ ours: [of(2)], spared: [] })
  })
})

describe("a harness's shared daemon that others started", () => {
  const outside = { born: false }
  verifies('innocent', 'is never asked to end, nor reported; only our session in it is asked for', () => {
    const fate = fateOfDaemons([daemon([session('1')], outside)], run, claude('1'))
    expect(fate).toMatchObject({ spared: [], ours: [of(1)], ask: [{ asking: command('claude', 'stop', '1') }] })
    expect(fateOfDaemons([daemon([session('2')], outside)], run, claude('1'))).toMatchObject({ ours: [], ask: [], served: [] })
  })
  test('without an id on record, what was begun while the command ran that hands its session over is ours', () => {
    const ours = (over: Partial<ServedSession>, of_: RunOfDaemon = handed) => fateOfDaemons([daemon([session('1', over)], outside)], of_, []).natives
    expect(ours({})).toEqual(claude('1'))
    expect(ours({}, { ...handed, exitAt: null })).toEqual([])
    for (const other of [{ since: 99 }, { since: 201 }, { since: null }, { dir: '/work/sub' }]) expect(ours(other)).toEqual([])
    expect(ours({}, run)).toEqual([])
    expect(ours({}, { ...handed, handsTo: 'codex' })).toEqual([])
  })
  verifies('innocent', 'of two that were begun here it cannot be told which is ours: neither is ended, and nothing is finished', () => {
    for (const [where, of_] of [
      [outside, handed],
      [{ born: true }, run],
    ] as const) {
      const fate = fateOfDaemons([daemon([session('1'), session('2')], where)], of_, [])
      expect(fate).toMatchObject({ ours: [], natives: [], served: [], ask: [], blind: expect.stringContaining('2 sessions that were begun here') })
      expect(fate.others).toHaveLength(2)
    }
  })
  verifies('unknown', 'that a command works through leaves open whether its work goes on there, as long as it works in this directory', () => {
    const doubt = (over: Partial<ServedSession>, natives = claude()) =>
      fateOfDaemons([daemon([session('1', over)], outside)], { ...run, worksThrough: 'claude' }, natives).blind
    expect(doubt({})).toContain('works here on session 1, which may be its own')
    const ready = fateOfDaemons([daemon([session('1', { active: false })], outside)], { ...run, worksThrough: 'claude' }, [])
    expect(ready).toMatchObject({ near: claude('1'), blind: null })
    for (const other of [{ active: false }, { dir: '/else' }, { since: 99 }, { since: null }]) expect(doubt(other)).toBeNull()
    expect(doubt({}, claude('2'))).toBeNull()
    expect(fateOfDaemons([daemon([session('1')], outside)], run, []).blind).toBeNull()
  })
  test('a session that only lies ready is not at work, and nobody is asked for it', () => {
    const fate = fateOfDaemons([daemon([session('1', { active: false, stop: null })], outside)], run, claude('1'))
    expect(fate).toMatchObject({ served: [], ask: [], natives: [...claude('1'), ...claude('1')] })
  })
  test('what a daemon and its helper both name is asked once', () => {
    const both = [daemon([session('1')], outside), daemon([session('1')], { ...outside, row: row(501) })]
    expect(fateOfDaemons(both, run, claude('1')).ask).toHaveLength(1)
  })
})

verifies('innocent', 'nobody is ours and others’ at once, and none but ours is asked for while others are served', () => {
  const sessions = fc.uniqueArray(
    fc
      .record({
        nativeId: fc.constantFrom('1', '2', '3', '4'),
        dir: fc.constantFrom('/work', '/else'),
        since: fc.constantFrom(null, 50, 150, 250),
        active: fc.boolean(),
      })
      .map((over) => session(over.nativeId, over)),
    { selector: ({ nativeId }) => nativeId },
  )
  const worlds = fc.record({
    served: fc.option(sessions),
    born: fc.boolean(),
    natives: fc.subarray(claude('1', '2')),
    handsTo: fc.constantFrom(null, 'claude', 'codex'),
  })
  fc.assert(
    fc.property(worlds, ({ served, born, natives, handsTo }) => {
      const fate = fateOfDaemons([daemon(served, { born })], { ...handed, handsTo }, natives)
      const [ours, others] = [fate.ours, fate.others].map((list) => new Set(list.map(({ pid }) => pid)))
      for (const pid of ours ?? []) expect(others?.has(pid)).toBe(false)
      expect((ours?.size ?? 0) + (others?.size ?? 0)).toBe(served?.length ?? 0)
      if (natives.length > 0) for (const pid of ours ?? []) expect(natives.map(({ id }) => Number(id))).toContain(pid)
      const stops = fate.ask.map(({ asking }) => describeAsking(asking))
      if (!born || (others?.size ?? 0) > 0) for (const stop of stops) expect([...(ours ?? [])].map((pid) => `claude stop ${pid}`)).toContain(stop)
      if (born && (served === null || (others?.size ?? 0) > 0)) expect(fate.spared).toHaveLength(1)
    }),
    { numRuns: 1000 },
  )
})
