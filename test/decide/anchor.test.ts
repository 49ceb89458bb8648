import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AnchorFacts, anchorVerdict } from '../../src/decide/index.ts'
import type { Anchor, AnchorWord, Sample } from '../../src/model/index.ts'
import { isDead } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { place, row } from './build.ts'

type Told = Extract<AnchorWord, { kind: 'process' }>
/** As Claude Code writes it: with ticks, machine and pid namespace. */
const told = (over: Partial<Told> = {}): Told => ({
  kind: 'process',
  pid: 500,
  ticks: 5000,
  bootId: null,
  machine: 'm1',
  pidNamespace: 'pid:[1]',
  flock: 'none',
  ...over,
})
/** As Copilot does: a pid, and a lock that it holds while it lives. */
const bare = (over: Partial<Told> = {}): Told => told({ ticks: null, machine: null, pidNamespace: null, flock: 'free', ...over })
const anchor = (says: AnchorWord): Anchor => ({ harness: 'copilot', nativeId: 'id', path: '/h/x', files: [{ path: '/h/x', stamp: '1' }], says })

const seen = (over: Parameters<typeof row>[1] = {}): Sample => ({ kind: 'seen', row: row(500, over) })
const absent: Sample = { kind: 'absent' }
const RECYCLED = seen({ ticks: 9999, name: 'sleep' })
/** A world in which nothing stands in the way of a proof. */
const eyes = (sample: Sample, over: Partial<AnchorFacts> = {}): AnchorFacts => ({
  here: place,
  sample: () => sample,
  ticksAreTrue: true,
  isProgramOf: () => false,
  isNamespaceGone: () => false,
  namesakes: () => [],
  sharedBy: () => null,
  ...over,
})

const RULES: readonly (readonly [string, AnchorWord, AnchorFacts, string, RegExp])[] = [
  ['the very process lives', told(), eyes(seen()), 'alive', /pid 500 is alive \(born at tick 5000\)/],
  ['it is stopped', told(), eyes(seen({ state: 'T' })), 'alive', /is alive/],
  ['its first thread has left', told(), eyes(seen({ state: 'L' })), 'alive', /is alive/],
  ['there is no such process', told(), eyes(absent), 'dead', /no such process/],
  ['another process has its pid', told(), eyes(RECYCLED), 'dead', /pid 500 now belongs to another process/],
  ['it is a zombie', told(), eyes(seen({ state: 'Z' })), 'dead', /zombie/],
  ['it may not be looked at (EPERM)', told(), eyes({ kind: 'hidden', why: 'EPERM' }), 'alive', /pid 500 exists, and may not be looked at: EPERM/],
  ['its pid is 0', told({ pid: 0 }), eyes(absent), 'malformed', /0 is no pid/],
  ['its pid is below 0', told({ pid: -1 }), eyes(absent), 'malformed', /-1 is no pid/],
  ['its pid is no number', told({ pid: Number.NaN }), eyes(absent), 'malformed', /NaN is no pid/],
  ['its pid is larger than any', told({ pid: 4_194_305 }), eyes(absent), 'malformed', /is no pid/],
  ['it makes no sense', { kind: 'malformed', why: 'no JSON' }, eyes(absent), 'malformed', /no JSON/],
  ['of another boot of this machine', told({ bootId: 'b0' }), eyes(absent), 'dead', /started anew/],
  ['of another boot, and the pid is in use', told({ bootId: 'b0' }), eyes(seen()), 'dead', /started anew/],
  ['of another boot, of a machine that it does not tell, on our own disk', told({ bootId: 'b0', machine: null }), eyes(absent), 'dead', /anew/],
  ['of another boot of another machine', told({ bootId: 'b0', machine: 'm2' }), eyes(absent), 'unknown', /another machine/],
  ['of this boot', told({ bootId: 'b1' }), eyes(absent), 'dead', /no such process/],
  ['a boot that cannot be compared', told({ bootId: 'b0' }), eyes(absent, { here: { ...place, boot: '' } }), 'unknown', /boot id/],
  ['of another machine', told({ machine: 'm2' }), eyes(absent), 'unknown', /another machine/],
  ['of another machine, and the pid is in use here', told({ machine: 'm2' }), eyes(seen()), 'unknown', /another machine/],
  ['of a pid namespace that may live', told({ pidNamespace: 'pid:[2]' }), eyes(absent), 'unknown', /another pid namespace \(pid:\[2\]\)/],
  ['of another pid namespace, and the pid is in use here', told({ pidNamespace: 'pid:[2]' }), eyes(seen()), 'unknown', /another pid namespace/],
  [
    'of a pid namespace that is gone',
    told({ pidNamespace: 'pid:[2]' }),
    eyes(seen(), { isNamespaceGone: (namespace) => namespace === 'pid:[2]' }),
    'dead',
    /no longer exists/,
  ],
  ['where /proc shows others', told(), eyes(absent, { here: { ...place, pidNamespace: '' } }), 'unknown', /\/proc shows another one/],
  ['on NFS', told(), eyes(absent, { sharedBy: () => 'NFS' }), 'unknown', /it lies on NFS/],
  ['on NFS, of another boot', told({ bootId: 'b0' }), eyes(absent, { sharedBy: () => 'NFS' }), 'unknown', /it lies on NFS/],
  ['on NFS, but this very process is here', told(), eyes(seen(), { sharedBy: () => 'NFS' }), 'alive', /is alive/],
  ['ticks that cannot be compared', told(), eyes(RECYCLED, { ticksAreTrue: false }), 'unknown', /time namespace/],
  ['ticks that cannot be compared, and nobody is there', told(), eyes(absent, { ticksAreTrue: false }), 'dead', /no such process/],
  // Without a pid namespace (Claude Code 2.1.197): it may be of a container that shares the folder.
  ['no namespace told, nobody has the pid anywhere', told({ pidNamespace: null }), eyes(absent), 'dead', /no such process/],
  ['no namespace told, recycled', told({ pidNamespace: null }), eyes(RECYCLED), 'dead', /another process/],
  [
    'no namespace told, and it is in another one',
    told({ pidNamespace: null }),
    eyes(absent, { namesakes: () => [row(77, { ticks: 5000 })] }),
    'alive',
    /it is pid 77 here/,
  ],
  [
    'no namespace told, and somebody has that pid in another one',
    told({ pidNamespace: null }),
    eyes(RECYCLED, { namesakes: () => [row(77)] }),
    'unknown',
    /pid 77 has that number in another pid namespace/,
  ],
  [
    'no namespace told, and a zombie has that pid in another one',
    told({ pidNamespace: null }),
    eyes(absent, { namesakes: () => [row(77, { state: 'Z' })] }),
    'dead',
    /no such process/,
  ],
  [
    'no namespace told, from inside of one',
    told({ pidNamespace: null }),
    eyes(absent, { namesakes: () => null }),
    'unknown',
    /cannot be seen from here/,
  ],
  // Without ticks.
  ['no ticks: one of its programs is there', bare(), eyes(RECYCLED, { isProgramOf: () => true }), 'alive', /pid 500 is a copilot/],
  ['no ticks: somebody is there who may not be looked at', bare(), eyes(RECYCLED, { isProgramOf: () => null }), 'alive', /may not be looked at/],
  ['no ticks: hidden', bare(), eyes({ kind: 'hidden', why: 'EPERM' }), 'alive', /may not be looked at: EPERM/],
  ['no ticks: nobody is there', bare(), eyes(absent), 'dead', /no such process/],
  ['no ticks: nobody is there, but its lock is held', bare({ flock: 'held' }), eyes(absent), 'alive', /its lock is held/],
  ['no ticks: a zombie', bare(), eyes(seen({ state: 'Z' })), 'dead', /zombie/],
  [
    'no ticks: a zombie, and somebody has that pid elsewhere',
    bare(),
    eyes(seen({ state: 'Z' }), { namesakes: () => [row(77)] }),
    'unknown',
    /pid 77/,
  ],
  ['no ticks: another program, its lock is free', bare(), eyes(RECYCLED), 'dead', /belongs to sleep, and nobody holds its lock/],
  ['no ticks: another program, its lock is held', bare({ flock: 'held' }), eyes(RECYCLED), 'alive', /its lock is held/],
  ['no ticks: another program, of its lock nobody can tell', bare({ flock: 'unknown' }), eyes(RECYCLED), 'unknown', /nothing else tells/],
  ['no ticks: another program, and it has no lock', bare({ flock: 'none' }), eyes(RECYCLED), 'unknown', /nothing else tells/],
  ['no ticks: nobody is there, but in another namespace', bare(), eyes(absent, { namesakes: () => [row(77)] }), 'unknown', /pid 77 has that number/],
  ['no ticks: from inside of a namespace', bare(), eyes(absent, { namesakes: () => null }), 'unknown', /cannot be seen from here/],
  // A lock and nothing else (codex).
  ['a lock that is held', { kind: 'flock', flock: 'held' }, eyes(absent), 'alive', /held/],
  ['a lock that nobody holds', { kind: 'flock', flock: 'free' }, eyes(absent), 'free', /nobody holds/],
  ['a lock that cannot be looked at', { kind: 'flock', flock: 'unknown' }, eyes(absent), 'unknown', /cannot be told/],
]

describe('what is true of an anchor', () => {
  for (const [what, says, world, kind, why] of RULES)
    test(`${what}: ${kind}`, () => {
      const verdict = anchorVerdict(anchor(says), world)
      expect([verdict.kind, verdict.why]).toEqual([kind, expect.stringMatching(why)])
    })
})

test('what is no pid is not even looked for', () => {
  const looked: number[] = []
  const world = eyes(absent, {
    sample: (pid) => {
      looked.push(pid)
      return absent
    },
  })
  for (const pid of [0, -1, Number.NaN, 1.5, 4_194_305]) anchorVerdict(anchor(told({ pid })), world)
  expect(looked).toEqual([])
})

const maybe = <T>(value: T, other: T): fc.Arbitrary<T | null> => fc.constantFrom(value, other, null)
const words: fc.Arbitrary<Told> = fc
  .record({
    ticks: maybe(5000, 4000),
    bootId: maybe('b1', 'b0'),
    machine: maybe('m1', 'm2'),
    pidNamespace: maybe('pid:[1]', 'pid:[2]'),
    flock: fc.constantFrom('held' as const, 'free' as const, 'unknown' as const, 'none' as const),
  })
  .map((over) => told(over))
const samples: fc.Arbitrary<Sample> = fc.oneof(
  fc.constant(absent),
  fc.constant<Sample>({ kind: 'hidden', why: 'EPERM' }),
  fc.record({ ticks: fc.constantFrom(5000, 4000), state: fc.constantFrom('S', 'T', 'Z') }).map(seen),
)
const worlds: fc.Arbitrary<AnchorFacts> = fc
  .record({
    sample: samples,
    ticksAreTrue: fc.boolean(),
    isProgramOf: fc.constantFrom(true, false, null),
    gone: fc.boolean(),
    namesakes: fc.constantFrom(null, [], [row(77)], [row(77, { ticks: 5000 })], [row(77, { state: 'Z' })]),
    sharedBy: fc.constantFrom(null, 'NFS'),
  })
  .map(({ sample, ticksAreTrue, isProgramOf, gone, namesakes, sharedBy }) =>
    eyes(sample, {
      ticksAreTrue,
      isProgramOf: () => isProgramOf,
      isNamespaceGone: () => gone,
      namesakes: () => namesakes,
      sharedBy: () => sharedBy,
    }),
  )

verifies('unknown', 'whatever an anchor says and the world answers: what lives, or may live where nobody can look, is never called dead', () => {
  fc.assert(
    fc.property(words, worlds, (says, world) => {
      const verdict = anchorVerdict(anchor(says), world)
      if (verdict.kind !== 'dead') return
      const sample = world.sample(500)
      const isItself =
        says.ticks === null
          ? sample.kind === 'seen' && !isDead(sample.row.state) && world.isProgramOf(sample.row, 'copilot') !== false
          : sample.kind === 'seen' && sample.row.ticks === says.ticks
      const isElsewhere = (says.bootId ?? 'b1') !== 'b1' || (says.pidNamespace ?? 'pid:[1]') !== 'pid:[1]'
      if (!isElsewhere) {
        expect(sample.kind).not.toBe('hidden')
        if (sample.kind === 'seen' && !isDead(sample.row.state)) expect(isItself).toBe(false)
        if (says.pidNamespace === null && !isItself) expect(world.namesakes(500)?.every(({ state }) => isDead(state))).toBe(true)
      }
      expect(world.sharedBy('/h/x')).toBe(null)
      expect(says.machine).not.toBe('m2')
      expect(says.flock).not.toBe('held')
    }),
    { numRuns: 5000 },
  )
})
