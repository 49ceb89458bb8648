import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { duplicateOwners, strongestOfEach } from '../../src/decide/index.ts'
import type { NativeClaim } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

const claim = (pid: number, how: NativeClaim['how'], session: string | null = null, nativeId = 'X', harness = 'claude'): NativeClaim => ({
  harness,
  nativeId,
  how,
  pid,
  session,
})
/** Who owns what twice: `pid pid` of each, with a `?` where it is not certain. */
const told = (...claims: NativeClaim[]): string[] =>
  duplicateOwners(claims).map(
    ({ harness, nativeId, owners, certain }) => `${harness} ${nativeId}: ${owners.map(({ pid }) => pid).join(' ')}${certain ? '' : '?'}`,
  )

describe('two owners of one native id', () => {
  const cases: readonly [what: string, claims: readonly NativeClaim[], answer: readonly string[]][] = [
    ['nobody', [], []],
    ['one', [claim(1, 'proven')], []],
    ['two that their harness lists', [claim(2, 'proven'), claim(1, 'proven')], ['claude X: 1 2']],
    ['a session and a stranger', [claim(1, 'recorded', 's'), claim(2, 'proven')], ['claude X: 1 2']],
    ['two sessions', [claim(1, 'proven', 's'), claim(2, 'proven', 't')], ['claude X: 1 2']],
    ['two agents inside one session', [claim(1, 'proven', 's'), claim(2, 'proven', 's')], ['claude X: 1 2']],
    ['three', [claim(1, 'proven'), claim(2, 'named'), claim(3, 'proven', 's')], ['claude X: 1 2 3']],
    ['one that is only named', [claim(1, 'proven'), claim(2, 'named')], ['claude X: 1 2?']],
    ['both only named', [claim(1, 'named'), claim(2, 'named')], ['claude X: 1 2?']],
    ['another id', [claim(1, 'proven'), claim(2, 'proven', null, 'Y')], []],
    ['the same id of another harness', [claim(1, 'proven'), claim(2, 'proven', null, 'X', 'codex')], []],
    ['a session and its own process', [claim(1, 'recorded', 's'), claim(1, 'proven', 's')], []],
    ['a session whose agent is another of its processes', [claim(1, 'recorded', 's'), claim(2, 'proven', 's')], []],
    ['the same where only a command line tells', [claim(1, 'recorded', 's'), claim(2, 'named', 's')], []],
    ['named, but it has gone on to another', [claim(1, 'proven'), claim(2, 'named'), claim(2, 'proven', null, 'Y')], []],
    ['named, but the record is newer', [claim(1, 'proven'), claim(2, 'named', 's'), claim(2, 'recorded', 's', 'Y')], []],
    ['on record, but its harness says otherwise', [claim(1, 'proven'), claim(2, 'recorded', 's'), claim(2, 'proven', 's', 'Y')], []],
    [
      'two pairs',
      [claim(1, 'proven'), claim(2, 'proven'), claim(3, 'named', null, 'Y'), claim(4, 'proven', null, 'Y')],
      ['claude X: 1 2', 'claude Y: 3 4?'],
    ],
  ]
  test.each(cases)('%s', (_what, claims, answer) => expect(told(...claims)).toEqual(answer))
})

const arbitrary: fc.Arbitrary<NativeClaim[]> = fc.array(
  fc.record({
    harness: fc.constantFrom('claude', 'codex'),
    nativeId: fc.constantFrom('X', 'Y'),
    how: fc.constantFrom('proven', 'recorded', 'named'),
    pid: fc.integer({ min: 2, max: 6 }),
    session: fc.constantFrom(null, 's', 't'),
  }),
  { maxLength: 12 },
)

verifies('one-owner', 'whatever is claimed, a duplicate has two processes, and each process one id', () =>
  fc.assert(
    fc.property(arbitrary, (claims) => {
      const found = duplicateOwners(claims)
      for (const { harness, nativeId, owners, certain } of found) {
        expect(new Set(owners.map(({ pid }) => pid)).size).toBe(owners.length)
        expect(owners.length).toBeGreaterThan(1)
        expect(owners.every((owner) => owner.harness === harness && owner.nativeId === nativeId && claims.includes(owner))).toBe(true)
        expect(certain).toBe(owners.filter(({ how }) => how !== 'named').length > 1)
      }
      // Nobody owns two ids.
      const pids = found.flatMap(({ owners }) => owners.map(({ pid }) => pid))
      expect(new Set(pids).size).toBe(pids.length)
    }),
  ),
)

verifies('one-owner', 'a process that is proven to own one id is never told as an owner of another', () =>
  fc.assert(
    fc.property(arbitrary, fc.integer({ min: 2, max: 6 }), (claims, pid) => {
      const others = claims.filter((one) => one.pid !== pid || one.how !== 'proven')
      const owners = duplicateOwners([...others, claim(pid, 'proven', null, 'Z')]).flatMap((one) => one.owners)
      expect(owners.some((owner) => owner.pid === pid)).toBe(false)
    }),
  ),
)

test('of each process what is known best stands', () => {
  expect(strongestOfEach([claim(1, 'named'), claim(1, 'proven', null, 'Y'), claim(2, 'named'), claim(2, 'recorded', 's', 'Z')])).toEqual([
    claim(1, 'proven', null, 'Y'),
    claim(2, 'recorded', 's', 'Z'),
  ])
})
