import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Asker, chooseSiblings, type Families, type Peer, shareRepository } from '../../src/decide/index.ts'
import { verifies } from '../requirements.ts'
import { directory, ended, running } from './build.ts'

let serial = 0
const peer = (id: string, over: Partial<Omit<Peer, 'session'>> & { readonly of?: Partial<Parameters<typeof running>[0]> } = {}): Peer => {
  const { of = {}, ...more } = over
  return { session: { id }, run: running({ id: `r${++serial}`, session: id, ...of }), liveness: 'alive', near: null, ...more }
}
const asking = (one: Peer, ...ids: readonly string[]): Asker => ({ ids: [one.session.id, ...ids], run: one.run })
const families = (...peers: readonly Peer[]): Families => new Map(peers.map(({ run }) => [run.id, run]))
/** `a`, `b child`, `c!` with the reason of those that are left out. */
const told = (peers: readonly Peer[], asker: Asker | null, known: Families = families(...peers)): string[] =>
  chooseSiblings(peers, asker, known).map(({ peer: { session }, choice }) =>
    choice.kind === 'left-out' ? `${session.id}!${choice.because}` : `${session.id}${choice.relation === null ? '' : ` ${choice.relation}`}`,
  )

describe('who is a sibling', () => {
  const [me, a, b] = [peer('me'), peer('a'), peer('b')]
  test('every other one that lives; outside of any, all', () => {
    expect(told([me, a, b], asking(me))).toEqual(['me!self', 'a', 'b'])
    expect(told([me, a, b], null)).toEqual(['me', 'a', 'b'])
    expect(told([], asking(me))).toEqual([])
  })
  verifies('self', 'never oneself: by every id that the session had, by its run, and with whatever tree of it lives on', () => {
    const drifted = { ...me, session: { id: 'before' } }
    expect(told([drifted, a], asking(me)), 'seen under the id that it had before').toEqual(['before!self', 'a'])
    expect(told([peer('before'), a], asking(me, 'before')), 'another tree of it').toEqual(['before!self', 'a'])
    expect(told([me, a], { ids: ['me'], run: null }), 'asked for by its id alone').toEqual(['me!self', 'a'])
  })
  verifies('unknown', 'what cannot be told is shown; what is proven over is not', () => {
    expect(told([peer('x', { liveness: 'unknown' }), peer('y', { liveness: 'dead' }), peer('z', { run: ended({ session: 'z' }) })], null)).toEqual([
      'x',
      'y!over',
      'z',
    ])
  })
  test('a task belongs to its session', () => {
    expect(told([peer('t', { of: { task: 'cancel' } }), peer('u', { of: { task: 'adopt' } }), a], asking(me))).toEqual(['t!task', 'u!task', 'a'])
  })
  test('a session is shown once: by its run on record, then by what is certain', () => {
    const left = peer('a', { run: ended({ id: 'r-left', session: 'a' }) })
    expect(told([left, a], null)).toEqual(['a!twice', 'a'])
    expect(told([a, left], null)).toEqual(['a', 'a!twice'])
    expect(told([peer('a', { liveness: 'unknown' }), a], null)).toEqual(['a!twice', 'a'])
    expect(told([a, peer('a')], null)).toEqual(['a', 'a!twice'])
    expect(told([peer('a', { liveness: 'dead' }), left], null), 'the one that is over hides nothing').toEqual(['a!over', 'a'])
  })
  test('only those near, where that was asked', () => {
    expect(told([peer('x', { near: true }), peer('y', { near: false })], asking(me))).toEqual(['x', 'y!elsewhere'])
  })
})

describe('kin', () => {
  const outer = peer('outer')
  const middle = peer('middle', { of: { parent: outer.run.id } })
  const inner = peer('inner', { of: { parent: middle.run.id } })
  const all = [outer, middle, inner, peer('else')]
  test('nested ones are siblings too, and say so, however deep', () => {
    expect(told(all, asking(outer))).toEqual(['outer!self', 'middle child', 'inner child', 'else'])
    expect(told(all, asking(middle))).toEqual(['outer parent', 'middle!self', 'inner child', 'else'])
    expect(told(all, asking(inner))).toEqual(['outer parent', 'middle parent', 'inner!self', 'else'])
    expect(told(all, null)).toEqual(['outer', 'middle', 'inner', 'else'])
  })
  test('by session: also those that an earlier run of it has started', () => {
    const known: Families = new Map([...families(...all), ['r-old', { session: 'me', parent: null }]])
    expect(told([peer('left', { of: { parent: 'r-old' } })], { ids: ['me'], run: null }, known)).toEqual(['left child'])
    expect(told([peer('left', { of: { parent: 'r-unknown' } })], { ids: ['me'], run: null }, known)).toEqual(['left'])
  })
  test('a circle ends', () => {
    const known: Families = new Map([
      ['r-a', { session: 'a', parent: 'r-b' }],
      ['r-b', { session: 'b', parent: 'r-a' }],
    ])
    expect(told([peer('x', { of: { parent: 'r-a' } })], { ids: ['b'], run: null }, known)).toEqual(['x child'])
  })
})

test('one repository: its worktrees, and folders of it that do not touch; none is no repository', () => {
  const at = (common: string | null) => directory('/a', { repository: common === null ? null : { common, top: common, root: '/a' } })
  expect([shareRepository(at('1'), at('1')), shareRepository(at('1'), at('2'))]).toEqual([true, false])
  expect([shareRepository(at(null), at(null)), shareRepository(at('1'), at(null)), shareRepository(at(null), at('1'))]).toEqual([false, false, false])
})

/* Anything that may be seen. */
const peers = fc.array(
  fc
    .record({
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      liveness: fc.constantFrom('alive' as const, 'dead' as const, 'unknown' as const),
      near: fc.constantFrom(null, true, false),
      task: fc.constantFrom(null, null, 'cancel' as const),
      isOver: fc.boolean(),
      parent: fc.option(fc.integer({ min: 0, max: 7 }).map((at) => `p${at}`)),
    })
    .map(({ id, liveness, near, task, isOver, parent }) => (at: number): Peer => {
      const of = { id: `p${at}`, session: id, task, parent }
      return { session: { id }, run: isOver ? ended(of) : running(of), liveness, near }
    }),
  { maxLength: 8 },
)
const askers: fc.Arbitrary<Asker | null> = fc.option(fc.constantFrom('a', 'b').map((id) => ({ ids: [id], run: null })))

verifies('self', 'every one that may live is shown exactly once, and nobody else: whatever was seen', () => {
  fc.assert(
    fc.property(peers, askers, (made, asker) => {
      const seen = made.map((make, at) => make(at))
      const chosen = chooseSiblings(seen, asker, families(...seen))
      expect(chosen.map(({ peer: one }) => one)).toEqual(seen)
      const shown = chosen.filter(({ choice }) => choice.kind === 'sibling').map(({ peer: { session } }) => session.id)
      const wanted = seen.filter(
        ({ session, liveness, near, run }) => !asker?.ids.includes(session.id) && liveness !== 'dead' && near !== false && run.task === null,
      )
      expect(shown.toSorted()).toEqual([...new Set(wanted.map(({ session }) => session.id))].toSorted())
    }),
    { numRuns: 1000 },
  )
})
