import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judge, judgePlace } from '../../src/decide/index.ts'
import type { Fact, Place, ProcessRow, Sample } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { place, row } from './build.ts'

const seen = (over: Partial<ProcessRow>): Sample => ({ kind: 'seen', row: row(7, { ticks: 70, ...over }) })
const never = (): boolean => false
const ofSample = (sample: Sample): Fact => judge({ here: () => place, sample: () => sample, isNamespaceGone: never }, place, { pid: 7, ticks: 70 })

describe('judge: what a look at a recorded pid says', () => {
  const cases: readonly [what: string, sample: Sample, fact: Fact][] = [
    ['running', seen({ state: 'R' }), { kind: 'alive', frozen: false }],
    ['sleeping', seen({ state: 'S' }), { kind: 'alive', frozen: false }],
    ['uninterruptible', seen({ state: 'D' }), { kind: 'alive', frozen: false }],
    ['stopped is alive', seen({ state: 'T' }), { kind: 'alive', frozen: true }],
    ['traced is alive', seen({ state: 't' }), { kind: 'alive', frozen: true }],
    ['of another user is alive', seen({ uid: 0 }), { kind: 'alive', frozen: false }],
    ['a zombie is gone, with its status', seen({ state: 'Z', waitStatus: 256 }), { kind: 'gone', why: 'it ended (zombie)', waitStatus: 256 }],
    ['a zombie whose status is hidden', seen({ state: 'Z' }), { kind: 'gone', why: 'it ended (zombie)', waitStatus: null }],
    ['being removed', seen({ state: 'X' }), { kind: 'gone', why: 'it ended (zombie)', waitStatus: null }],
    ['absent', { kind: 'absent' }, { kind: 'gone', why: 'no such process', waitStatus: null }],
    ['the pid has a new tenant', seen({ ticks: 71 }), { kind: 'gone', why: 'pid 7 now belongs to another process', waitStatus: null }],
    ['the pid has an older tenant', seen({ ticks: 69 }), { kind: 'gone', why: 'pid 7 now belongs to another process', waitStatus: null }],
    ['hidden', { kind: 'hidden', why: 'EACCES' }, { kind: 'unknown', why: 'pid 7 could not be read: EACCES' }],
  ]
  test.each(cases)('%s', (_what, sample, fact) => expect(ofSample(sample)).toEqual(fact))

  verifies('evidence', "a new tenant's own zombie status is not taken for ours", () => {
    expect(ofSample(seen({ ticks: 71, state: 'Z', waitStatus: 9 }))).toMatchObject({ kind: 'gone', waitStatus: null })
  })
})

describe('judgePlace: can a pid recorded there be looked up from here?', () => {
  const kindOf = (fact: Fact | null): string => fact?.kind ?? 'yes'
  const cases: readonly [what: string, here: Partial<Place>, there: Partial<Place>, answer: string][] = [
    ['the same place', {}, {}, 'yes'],
    ['another home on the same boot', { install: 'i2' }, {}, 'yes'],
    ['the same kernel under another name (boot ids are random)', { machine: 'm2' }, {}, 'yes'],
    ['the same kernel, without any name', { machine: '' }, { machine: '' }, 'yes'],
    ['another machine', { machine: 'm2', boot: 'b2' }, {}, 'unknown'],
    ['another boot of a machine that nobody could name', { machine: '', boot: 'b2' }, { machine: '' }, 'unknown'],
    ['a later boot, our own record', { boot: 'b2' }, {}, 'gone'],
    ['a later boot, our own record, another namespace', { boot: 'b2', pidNamespace: 'pid:[2]' }, {}, 'gone'],
    ['a later boot, the record of another install', { boot: 'b2', install: 'i2' }, {}, 'unknown'],
    ['another pid namespace', { pidNamespace: 'pid:[2]' }, {}, 'unknown'],
    ['another time namespace', { timeNamespace: 'time:[2]' }, {}, 'unknown'],
  ]
  test.each(cases)('%s: %o from %o is %s', (_what, here, there, answer) => {
    expect(kindOf(judgePlace({ ...place, ...here }, { ...place, ...there }, never))).toBe(answer)
  })

  test.each([
    ['another machine', { machine: 'm2', boot: 'b2' }, 'it was started on another machine'],
    ['a later boot', { boot: 'b2' }, 'the machine was started anew since'],
    ['a later boot and install', { boot: 'b2', install: 'i2' }, 'it was recorded by another installation before the machine was started anew'],
    ['another pid namespace', { pidNamespace: 'x' }, 'it lives in another pid namespace (pid:[1])'],
    ['another time namespace', { timeNamespace: 'x' }, 'it lives in another time namespace'],
  ])('%s says why', (_what, here, why) => expect(judgePlace({ ...place, ...here }, place, never)).toMatchObject({ why }))

  verifies('unknown', 'a boot id that could not be read is not another boot, and proves nothing', () => {
    expect(kindOf(judgePlace({ ...place, boot: '' }, place, never))).toBe('unknown')
    expect(kindOf(judgePlace(place, { ...place, boot: '' }, never))).toBe('unknown')
    expect(kindOf(judgePlace({ ...place, boot: '' }, { ...place, boot: '' }, never))).toBe('unknown')
  })
})

verifies('unknown', 'a pid namespace in which nobody lives any more proves death, of this boot only', () => {
  const there = { ...place, pidNamespace: 'pid:[9]' }
  expect(judgePlace(place, there, (asked) => asked === 'pid:[9]')).toMatchObject({
    kind: 'gone',
    why: 'its pid namespace (pid:[9]) no longer exists',
  })
  expect(judgePlace(place, { ...there, boot: 'b2', install: 'i2' }, () => true)?.kind).toBe('unknown')
})

verifies('unknown', 'from another place no pid is even looked at', () => {
  const look = (): Sample => expect.fail('a pid of another place was looked up here')
  for (const elsewhere of [{ machine: 'm2', boot: 'b2' }, { boot: 'b2' }, { boot: '' }, { pidNamespace: 'x' }, { timeNamespace: 'x' }]) {
    expect(judge({ here: () => ({ ...place, ...elsewhere }), sample: look, isNamespaceGone: never }, place, { pid: 7, ticks: 70 }).kind).not.toBe(
      'alive',
    )
  }
})

verifies('unknown', 'another boot is proof of death only for the very machine and home that wrote the record', () => {
  const names = fc.record({ install: fc.constantFrom('i1', 'i2'), machine: fc.constantFrom('m1', 'm2', '') })
  fc.assert(
    fc.property(names, names, (here, there) => {
      const fact = judgePlace({ ...place, ...here, boot: 'b2' }, { ...place, ...there }, never)
      const proven = here.machine !== '' && here.machine === there.machine && here.install === there.install
      expect(fact?.kind).toBe(proven ? 'gone' : 'unknown')
    }),
  )
})

verifies('identity', 'alive needs the very pid and ticks, at the very place, in a living state', () => {
  const small = fc.integer({ min: 1, max: 3 })
  const places = fc.record({
    install: fc.constantFrom('i1', 'i2'),
    machine: fc.constantFrom('m1', 'm2', ''),
    boot: fc.constantFrom('b1', 'b2', ''),
    pidNamespace: fc.constantFrom('p1', 'p2'),
    timeNamespace: fc.constantFrom('t1', 't2'),
  })
  const rows = fc.record({ ticks: small, state: fc.constantFrom('R', 'S', 'T', 'Z', 'X') })
  fc.assert(
    fc.property(places, places, small, rows, (here, there, ticks, { ticks: found, state }) => {
      const fact = judge(
        { here: () => here, isNamespaceGone: never, sample: (pid) => ({ kind: 'seen', row: row(pid, { ticks: found, state }) }) },
        there,
        { pid: 7, ticks },
      )
      const kernel = ({ boot, pidNamespace, timeNamespace }: Place): string => [boot, pidNamespace, timeNamespace].join()
      const samePlace = here.boot !== '' && kernel(here) === kernel(there)
      expect(fact.kind === 'alive').toBe(samePlace && found === ticks && !['Z', 'X'].includes(state))
    }),
    { numRuns: 2000 },
  )
})
