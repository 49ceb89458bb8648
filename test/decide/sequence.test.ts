import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Choice, ClaimDecision, Verdict } from '../../src/decide/index.ts'
import { brokenInvariants, decideClaim } from '../../src/decide/index.ts'
import type { LiveRun, RunEvent, RunState } from '../../src/model/index.ts'
import { END_STATES, LIVE_STATES, RUN_EVENTS, RUN_TABLE } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { choices, ended, endStates, running, session, stopping } from './build.ts'

/**
 * A world with one session and three starters that look, and act much later on what they saw. Its store knows nothing but the
 * two rules of the design: a claim is won only on the epoch it was decided on, and the table says which writes are taken.
 */
type Life = { readonly id: string; readonly epoch: number; state: RunState; breathing: boolean }
type Starter = { firstEpoch: number; decision: ClaimDecision | null }
type World = { epoch: number; readonly lives: Life[]; readonly starters: readonly Starter[] }

type Move =
  | { readonly kind: 'arrive' | 'act'; readonly who: number }
  | { readonly kind: 'look' | 'hurry'; readonly who: number; readonly choice: Choice; readonly unclear: boolean }
  | { readonly kind: 'die'; readonly which: number }
  | { readonly kind: 'write'; readonly which: number; readonly event: RunEvent }

const who = fc.nat(2)
const which = fc.nat(3)
const moves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('act' as const, 'act' as const, 'arrive' as const), who }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('look' as const, 'look' as const, 'hurry' as const),
      who,
      choice: choices,
      unclear: fc.constantFrom(false, false, true),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('die' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('write' as const), which, event: fc.oneof(fc.constantFrom(...RUN_EVENTS), endStates) }) },
)

const isLiveState = (state: RunState): boolean => LIVE_STATES.some((live) => live === state)
const isEnd = (event: RunEvent): boolean => END_STATES.some((end) => end === event)
const runOf = ({ id, epoch, state }: Life) =>
  state === 'stopping' ? stopping({ id, epoch }) : isLiveState(state) ? running({ id, epoch }) : ended({ id, epoch })

function play(world: World, move: Move): void {
  switch (move.kind) {
    case 'arrive':
      Object.assign(starter(world, move.who), { firstEpoch: world.epoch, decision: null })
      return
    case 'look':
      starter(world, move.who).decision = look(world, starter(world, move.who), move)
      return
    case 'hurry':
      // A whole start at once, between the steps of the slow ones: clear the way, then claim.
      play(world, { kind: 'arrive', who: move.who })
      for (const kind of ['look', 'act', 'look', 'act'] as const) play(world, { ...move, kind })
      return
    case 'act':
      act(world, starter(world, move.who))
      return
    case 'die': {
      const life = nth(world, move.which)
      if (life !== undefined) life.breathing = false
      return
    }
    case 'write': {
      const life = nth(world, move.which)
      // Any writer may come late; but an ending is only ever written about what is proven dead.
      if (life !== undefined && !(isEnd(move.event) && life.breathing)) write(life, move.event)
    }
  }
}

/** Counted from the newest, round and round: most moves should hit somebody. */
const nth = ({ lives }: World, which: number): Life | undefined => lives.at(-1 - (which % Math.max(1, lives.length)))
const starter = (world: World, index: number): Starter => world.starters[index] as Starter

function look({ epoch, lives }: World, { firstEpoch }: Starter, { choice, unclear }: Extract<Move, { choice: Choice }>): ClaimDecision {
  const owner = lives.find((life) => life.epoch === epoch && isLiveState(life.state))
  const current = owner === undefined ? null : { run: runOf(owner) as LiveRun, verdict: judge(owner, unclear) }
  return decideClaim({ epoch, firstEpoch, current, holdings: [], forgotten: [], rivals: [] }, choice)
}

function judge({ breathing }: Life, unclear: boolean): Verdict {
  if (unclear) return { kind: 'unknown', why: 'EACCES' }
  if (breathing) return { kind: 'alive' }
  return { kind: 'over', ending: { state: 'lost', exit: null, reason: 'gone', evidence: ['gone'], by: 'reconcile' } }
}

function act(world: World, { decision }: Starter): void {
  if (decision?.kind === 'claim' && decision.seenEpoch === world.epoch) {
    world.epoch += 1
    world.lives.push({ id: `r${world.epoch}`, epoch: world.epoch, state: 'starting', breathing: true })
  }
  const lifeOf = (run: LiveRun): Life => world.lives.find(({ id }) => id === run.id) as Life
  if (decision?.kind === 'clear') for (const { run, ending } of decision.ends) write(lifeOf(run), ending.state)
  if (decision?.kind !== 'retire') return
  write(lifeOf(decision.run), 'asked')
  lifeOf(decision.run).breathing = false
  write(lifeOf(decision.run), 'superseded')
}

function write(life: Life, event: RunEvent): void {
  const next = RUN_TABLE[life.state][event]
  if (next !== 'refused') life.state = next
}

const newWorld = (): World => ({ epoch: 0, lives: [], starters: Array.from({ length: 3 }, () => ({ firstEpoch: 0, decision: null })) })

/** What is wrong with it now; `finals` remembers how each run ended. */
function wrongs(world: World, finals: Map<string, RunState>): string[] {
  const views = world.lives.map((life) => ({ session: session({ epoch: world.epoch }), run: runOf(life) }))
  const breathing = world.lives.filter((life) => life.breathing).map(({ id }) => id)
  const unmanaged = world.lives.filter((life) => life.breathing && !isLiveState(life.state)).map(({ id }) => id)
  const risen = world.lives.filter(({ id, state }) => (finals.get(id) ?? state) !== state).map(({ id }) => id)
  for (const { id, state } of world.lives) if (!isLiveState(state)) finals.set(id, state)
  return [
    ...brokenInvariants(views, []),
    ...(breathing.length > 1 ? [`several agents breathe: ${breathing.join(', ')}`] : []),
    ...unmanaged.map((id) => `${id} is over on record, and breathes`),
    ...risen.map((id) => `${id} was over, and is something else now`),
  ]
}

verifies('one-owner', 'however starters, deaths and late writers interleave, one session never has two live runs or two agents', () => {
  fc.assert(
    fc.property(fc.array(moves, { minLength: 5, maxLength: 80, size: 'max' }), (script) => {
      const world = newWorld()
      const finals = new Map<string, RunState>()
      for (const move of script) {
        const { epoch } = world
        play(world, move)
        const wrong = wrongs(world, finals)
        if (wrong.length > 0 || world.epoch < epoch) expect.fail(`after ${move.kind}: ${wrong.join('; ') || 'the epoch shrank'}`)
      }
    }),
    { numRuns: 1000 },
  )
})

test('a script can have many runs: each takeover makes one', () => {
  const world = newWorld()
  const takeover = { onLive: 'takeover', force: false, share: false } as const
  for (let turn = 0; turn < 6; turn++) play(world, { kind: 'hurry', who: turn % 3, choice: takeover, unclear: false })
  expect(world.lives.map(({ state, breathing }) => [state, breathing])).toEqual([...Array(5).fill(['superseded', false]), ['starting', true]])
})
