import fc from 'fast-check'
import { expect } from 'vitest'
import { whoAmI } from '../../src/app/caller/who-am-i.ts'
import { siblings } from '../../src/app/talk/siblings.ts'
import { verifies } from '../requirements.ts'
import { type Caller, type History, history, livesOf, mayLive, type Token } from '../sim/histories.ts'

type Step = {
  readonly what: 'join' | 'nest' | 'task' | 'far' | 'adopt' | 'rebind' | 'kill' | 'leave' | 'exit' | 'recycle' | 'supersede' | 'retire'
  readonly which: number
  readonly choice: number
  readonly marked: boolean
}
const steps: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom(
    'join',
    'join',
    'nest',
    'task',
    'far',
    'adopt',
    'rebind',
    'rebind',
    'kill',
    'leave',
    'exit',
    'recycle',
    'recycle',
    'supersede',
    'retire',
  ),
  which: fc.nat({ max: 20 }),
  choice: fc.nat({ max: 99 }),
  // One that could not be given a marker is rare.
  marked: fc.integer({ min: 0, max: 3 }).map((dice) => dice > 0),
})

async function take(told: History, { what, which, choice, marked }: Step): Promise<void> {
  const token = told.tokens[which % Math.max(1, told.tokens.length)]
  if (what === 'join' || (token === undefined && what !== 'far')) return told.join({ marked })
  if (what === 'far') return told.join({ marked, isFar: true })
  if (what === 'adopt') return told.adopt(marked)
  if (what === 'recycle') return told.recycle()
  if (token === undefined) return
  if (what === 'nest' || what === 'task') return token.agent === null ? undefined : told.join({ parent: token, marked, isTask: what === 'task' })
  if (what === 'rebind') return told.rebind(token, choice)
  if (what === 'kill' || what === 'leave' || what === 'exit') return told.kill(token, what)
  return told.supersede(token, what === 'retire', marked)
}

const ancestorsOf = (token: Token): Token[] => (token.parent === null ? [] : [token.parent, ...ancestorsOf(token.parent)])
const relationOf = (one: Token, self: Token | null): 'child' | 'parent' | null =>
  self === null ? null : ancestorsOf(one).includes(self) ? 'child' : ancestorsOf(self).includes(one) ? 'parent' : null

/** Everybody else that may live, with what it is to the asker. */
const peersOf = ({ tokens }: History, self: Token | null): unknown[] =>
  tokens
    .filter((one) => one !== self && !one.isTask && mayLive(one))
    .map((one) => ({ session: one.id, liveness: one.isFar ? 'unknown' : 'alive', relation: relationOf(one, self) }))
    .toSorted((one, other) => one.session.localeCompare(other.session))

async function seenBy(told: History, caller: Caller, session?: string) {
  const { self, siblings: found } = await told.asked(caller, (world) => siblings(world, { here: false, session }))
  const peers = found.map(({ sight, relation }) => ({ session: sight.session.id, liveness: sight.liveness, relation }))
  return { self, peers: peers.toSorted((one, other) => one.session.localeCompare(other.session)) }
}

const OUTSIDE: Caller = { below: null, env: {} }

/** Whatever environment it has, what lives of a session is that session, and sees every other one. */
async function checkInside(told: History, token: Token, below: NonNullable<ReturnType<typeof livesOf>>, copied: Token | undefined): Promise<void> {
  const own = told.envOf(token.run)
  // Without its agent around, only its environment can tell: anybody can wear a marker.
  const isLost = token.agent === null
  if (isLost) expect(await told.asked({ below, env: {} }, whoAmI)).toMatchObject({ kind: 'nobody' })
  const environments = isLost
    ? [own]
    : [own, {}, { HOLDFAST_RUN: 'r0', HOLDFAST_EPOCH: '1' }, ...(copied === undefined ? [] : [told.envOf(copied.run)])]
  for (const env of environments)
    expect(await told.asked({ below, env }, whoAmI), JSON.stringify(env)).toMatchObject({
      kind: 'session',
      session: { id: token.id },
      run: { id: token.run.id },
    })
  expect(await seenBy(told, { below, env: own })).toEqual({ self: token.id, peers: peersOf(told, token) })
}

async function check(told: History): Promise<void> {
  // A recycled pid is nobody that was there before, whatever its harness has left of that one; also while nobody knows that one to be dead.
  for (const below of told.strangers) expect(await told.asked({ below, env: {} }, whoAmI)).toMatchObject({ kind: 'agent', inside: null })
  expect(await seenBy(told, OUTSIDE)).toEqual({ self: null, peers: peersOf(told, null) })
  for (const [index, token] of told.tokens.entries()) {
    const other = told.tokens[(index + 1) % told.tokens.length]
    const below = livesOf(token)
    if (below !== null) await checkInside(told, token, below, other === token ? undefined : other)
    // From outside, with all that a run gives its own: where there is a marker, that is what is missing.
    if (token.run.marker !== null) expect(await told.asked({ below: null, env: told.envOf(token.run) }, whoAmI)).toMatchObject({ kind: 'nobody' })
    for (const id of [token.id, ...token.former]) expect(await told.found(id), `${id} of ${token.first}`).toBe(token.id)
    const { retired } = token
    if (retired !== null)
      expect(await told.asked({ below: retired.agent, env: told.envOf(retired.run) }, whoAmI)).toMatchObject({
        kind: 'nobody',
        why: expect.stringMatching(/taken over|over on record/),
      })
    expect(await seenBy(told, OUTSIDE, token.id)).toMatchObject({ self: token.id, peers: peersOf(told, token) })
  }
}

verifies(
  'self',
  'through any history of joining, moving, dying, adopting and pids that are used again: never oneself, never a dead one, every live one',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 12 }), async (taken) => {
        const told = await history()
        try {
          for (const step of taken) await take(told, step)
          await check(told)
          // What was recorded in passing changes nothing.
          await check(told)
        } finally {
          told.close()
        }
      }),
      { numRuns: 30 },
    )
  },
)
