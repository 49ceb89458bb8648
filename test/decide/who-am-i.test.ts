import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decideSelf, type Listed, type OnRecord, type Origin, provenAround, type SelfFacts } from '../../src/decide/index.ts'
import type { Agent, LiveRun, Run } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { ended, intent, MARKER, OTHER_MARKER, row, running, session, starting, stopping } from './build.ts'

/** `s1` in epoch 3, by run r000000000001, with MARKER and the secret `mine`. */
const on = (run: Run, epoch = run.epoch): OnRecord => ({ session: session({ id: run.session, epoch }), run })
const mine = on(running())
const unmarked = on(running({ marker: null }))
const other = on(running({ id: 'r000000000002', session: 's2', epoch: 1, marker: OTHER_MARKER, cookie: 'theirs' }))
const adopted = on(running({ id: 'r000000000003', session: 's3', epoch: 1, marker: null, adopted: true, cookie: 'none' }))

const alone = (record: OnRecord): Listed => ({ ...record, rival: null })

const agent = (pid: number, over: Partial<Agent> = {}): Agent => ({
  harness: 'claude',
  row: row(pid),
  launchers: [],
  argv: ['claude'],
  cwd: '/w',
  nativeId: null,
  named: null,
  ...over,
})
const origin = (pid: number, over: Partial<Origin> = {}): Origin => ({
  process: { pid, ticks: pid * 10 },
  marker: null,
  recorded: null,
  agent: null,
  listed: null,
  daemon: null,
  ...over,
})
const claude = (pid: number, over: Partial<Origin> = {}): Origin => origin(pid, { agent: agent(pid), ...over })
const facts = (over: Partial<SelfFacts> = {}): SelfFacts => ({
  marker: null,
  marked: null,
  contained: false,
  named: null,
  said: { epoch: undefined, secret: undefined },
  origins: [],
  served: null,
  elsewhere: false,
  doubt: null,
  ...over,
})
const SECRET = { epoch: '3', secret: 'mine' }
const told = (over: Partial<SelfFacts>): string => {
  const self = decideSelf(facts(over))
  if (self.kind === 'session') return `${self.session.id} by ${self.how}`
  return self.kind === 'agent' ? `agent ${self.agent.row.pid}${self.inside === null ? '' : ` in ${self.inside}`}` : 'nobody'
}

type Case = readonly [what: string, facts: Partial<SelfFacts>, answer: string]

/** Its tool, in a shell that carries the marker, below the agent that the run is about. */
const shell = origin(90, { marker: MARKER })
const own = claude(80, { marker: MARKER, recorded: mine })
const marked: Partial<SelfFacts> = { marker: MARKER, marked: mine }
const inside: Partial<SelfFacts> = { ...marked, origins: [shell, own, origin(2)] }

describe('by marker and environment', () => {
  const cases: readonly Case[] = [
    ['nothing at all', {}, 'nobody'],
    ['all of it', { ...inside, named: mine, said: SECRET }, 's1 by cookie'],
    ['an environment that was emptied', inside, 's1 by marker'],
    ['an environment of another run', { ...inside, named: other, said: { epoch: '1', secret: 'theirs' } }, 's1 by marker'],
    ['a wrong epoch', { ...inside, named: mine, said: { epoch: '2', secret: 'mine' } }, 's1 by marker'],
    ['a wrong secret', { ...inside, named: mine, said: { epoch: '3', secret: 'theirs' } }, 's1 by marker'],
    ['a copied environment', { named: mine, said: SECRET, origins: [origin(90)] }, 'nobody'],
    ['a copied environment in another run', { marker: OTHER_MARKER, marked: other, named: mine, said: SECRET }, 'nobody'],
    ['a copied environment where the marker is nobody’s', { marker: OTHER_MARKER, named: mine, said: SECRET }, 'nobody'],
    ['a run that could not be given a marker', { named: unmarked, said: SECRET }, 's1 by cookie'],
    ['the same, with the wrong secret', { named: unmarked, said: { ...SECRET, secret: 'x' } }, 'nobody'],
    ['the same, with the wrong epoch', { named: unmarked, said: { ...SECRET, epoch: '4' } }, 'nobody'],
    [
      'the same, started in one that has a marker',
      { marker: OTHER_MARKER, marked: other, named: on(running({ marker: null, parent: other.run.id })), said: SECRET },
      's1 by cookie',
    ],
    ['the same, copied into a run that has a marker', { marker: OTHER_MARKER, marked: other, named: unmarked, said: SECRET }, 'nobody'],
    ['a run that is starting', { ...inside, marked: on(starting()) }, 's1 by marker'],
    ['a run that is over', { ...inside, marked: on(ended()) }, 'nobody'],
    ['a run that was taken over', { ...inside, marked: on(ended({ state: 'superseded' }), 4) }, 'nobody'],
    ['a run whose session has another owner', { ...inside, marked: on(running(), 4) }, 'nobody'],
    ['a command that is no agent', { ...marked, origins: [origin(80, { marker: MARKER, recorded: mine })] }, 's1 by marker'],
    ['orphaned: its parents are gone, and anybody can wear a marker', { ...marked, origins: [origin(2)] }, 'nobody'],
    ['the same, in the cgroup of its run', { ...marked, contained: true, origins: [origin(2)] }, 's1 by marker'],
    ['the same, of a run that is over', { marker: MARKER, marked: on(ended()), contained: true, origins: [origin(2)] }, 'nobody'],
    ['orphaned, while a daemon has the same marker', { ...marked, doubt: 'who knows' }, 'nobody'],
    ['the same, with an environment', { ...marked, doubt: 'who knows', named: mine, said: SECRET }, 's1 by cookie'],
  ]
  test.each(cases)('%s', (_what, given, answer) => expect(told(given)).toBe(answer))

  test('what is not believed is said', () => {
    const why = (over: Partial<SelfFacts>): string => decideSelf(facts(over)).why
    expect(why({ named: mine, said: SECRET })).toMatch(/copy of that of run r000000000001 \(session s1\).*not carry the marker/)
    expect(why({ ...inside, marked: on(ended({ state: 'superseded' }), 4) })).toMatch(/session s1 was taken over.*epoch 3.*epoch 4 has it now/)
    expect(why({ ...inside, marked: on(ended()) })).toMatch(/run r000000000001 of session s1 is over on record \(completed: exit code 0\)/)
    const served = { harness: 'claude', id: 'X', owner: mine, doubt: 'no daemon serves X' }
    expect(why({ ...marked, named: mine, said: SECRET, served })).toBe('no daemon serves X')
    expect(why({ marker: OTHER_MARKER })).toMatch(/marker of a run that is not on record here/)
    const asked = decideSelf(facts({ ...inside, marked: on(stopping({ intent })) }))
    expect(asked).toMatchObject({ kind: 'session', note: 'it was asked to end by ann@box: asked by ann' })
  })
})

describe('the nearest wins', () => {
  const cases: readonly Case[] = [
    ['an agent that was adopted', { origins: [origin(90), claude(70, { recorded: adopted })] }, 's3 by process'],
    ['a recycled pid: no process is on record', { origins: [origin(90), origin(70)] }, 'nobody'],
    ['adopted inside a marked run', { ...marked, origins: [shell, claude(85, { marker: MARKER, recorded: adopted }), own] }, 's3 by process'],
    ['a marked run inside an adopted agent', { ...marked, origins: [shell, own, claude(70, { recorded: adopted })] }, 's1 by marker'],
    ['a marked run inside another', { ...inside, origins: [shell, own, claude(70, { marker: OTHER_MARKER, recorded: other })] }, 's1 by marker'],
    [
      'adopted, inside a run of another home',
      { marker: OTHER_MARKER, origins: [origin(90, { marker: OTHER_MARKER }), claude(70, { recorded: adopted })] },
      'nobody',
    ],
    [
      'an agent in a run of another home',
      { marker: OTHER_MARKER, origins: [claude(90, { marker: OTHER_MARKER }), claude(70, { recorded: adopted })] },
      'agent 90',
    ],
    ['an agent that somebody else started inside', { ...marked, origins: [shell, claude(85, { marker: MARKER }), own] }, 'agent 85 in s1'],
    [
      'the same, although the environment was inherited',
      { ...marked, named: mine, said: SECRET, origins: [shell, claude(85, { marker: MARKER }), own] },
      'agent 85 in s1',
    ],
    ['the same, inside an adopted one', { origins: [origin(90), claude(85), claude(70, { recorded: adopted })] }, 'agent 85 in s3'],
    ['the same, orphaned', { ...marked, elsewhere: true, origins: [shell, claude(85, { marker: MARKER })] }, 'agent 85'],
    [
      'the same, in the cgroup of the run',
      { ...marked, contained: true, elsewhere: true, origins: [shell, claude(85, { marker: MARKER })] },
      'agent 85 in s1',
    ],
    [
      'the agent itself, below a wrapper that is gone, in the cgroup',
      { ...marked, contained: true, origins: [shell, claude(85, { marker: MARKER })] },
      's1 by marker',
    ],
    [
      'the agent itself, listed with its own session',
      { ...marked, elsewhere: true, origins: [shell, claude(85, { marker: MARKER, listed: alone(mine) })] },
      's1 by registry',
    ],
    [
      'the agent below a wrapper',
      { ...marked, origins: [shell, claude(85, { marker: MARKER }), origin(80, { marker: MARKER, recorded: mine })] },
      's1 by marker',
    ],
    [
      'an agent around all of it is somebody else',
      { ...marked, origins: [shell, origin(80, { marker: MARKER, recorded: mine }), claude(60), claude(50)] },
      's1 by marker',
    ],
    [
      'one without a marker, in a nested one',
      { named: unmarked, said: SECRET, origins: [origin(90), claude(80, { recorded: unmarked }), claude(70)] },
      's1 by cookie',
    ],
    [
      'one without a marker, copied into another',
      { named: unmarked, said: SECRET, origins: [origin(90), claude(70, { recorded: adopted })] },
      's3 by process',
    ],
  ]
  test.each(cases)('%s', (_what, given, answer) => expect(told(given)).toBe(answer))
})

describe('a marker that is worn', () => {
  const worn: Partial<SelfFacts> = { marker: OTHER_MARKER, marked: other, origins: [origin(90, { marker: OTHER_MARKER }), own] }
  const stolen = { named: other, said: { epoch: '1', secret: 'theirs' } }
  const within = on(running({ id: 'r000000000002', session: 's2', epoch: 1, marker: OTHER_MARKER, cookie: 'theirs', parent: 'r000000000001' }))
  const cases: readonly Case[] = [
    ['below the agent of a run, that of another', worn, 's1 by process'],
    ['the same, with a stolen secret', { ...worn, ...stolen }, 's1 by process'],
    ['all the way down from the agent', { ...worn, origins: [claude(80, { marker: OTHER_MARKER, recorded: mine })] }, 's1 by process'],
    ['in the cgroup of that other run it is its own', { ...worn, contained: true }, 's2 by marker'],
    ['in a run that was started in ours, with its secret', { ...worn, ...stolen, marked: within, named: within }, 's2 by cookie'],
    ['the same, without its secret', { ...worn, marked: within }, 's1 by process'],
    ['by one that no run is around', { marker: OTHER_MARKER, marked: other, origins: [origin(90, { marker: OTHER_MARKER }), origin(2)] }, 'nobody'],
  ]
  test.each(cases)('%s', (_what, given, answer) => expect(told(given)).toBe(answer))

  test('the reason says so', () => expect(decideSelf(facts({ marker: OTHER_MARKER, marked: other })).why).toMatch(/marker of run .*anybody can wear/))
  test('a start is put into the run that is proven to be around it', () => {
    const around = (over: Partial<SelfFacts>): string | undefined => provenAround(facts(over))?.session
    expect(around(worn)).toBe('s1')
    expect(around({ ...worn, contained: true })).toBe('s2')
    expect(around({ marker: OTHER_MARKER, marked: other })).toBeUndefined()
    expect(around({ marker: OTHER_MARKER, marked: other, ...stolen })).toBe('s2')
    expect(around({ ...inside })).toBe('s1')
  })
})

describe('by the harness’s own word', () => {
  const listed = claude(85, { agent: agent(85, { nativeId: 'X' }), listed: alone(other) })
  const daemon = (marker: number | null, at = 60): Origin => origin(at, { marker, daemon: "Claude Code's daemon" })
  const served = (owner: OnRecord | null, doubt: string | null = null) => ({ harness: 'claude', id: 'X', owner, doubt })
  const leaked: Partial<SelfFacts> = { ...marked, named: mine, said: SECRET }
  const cases: readonly Case[] = [
    ['an agent whose conversation is on record', { origins: [origin(90), listed] }, 's2 by registry'],
    ['the same, over by now', { origins: [{ ...listed, listed: alone(on(ended())) }] }, 'agent 85'],
    ['the same, taken over', { origins: [{ ...listed, listed: alone(on(running(), 9)) }] }, 'agent 85'],
    ['the same, which has an agent of its own: two owners', { origins: [{ ...listed, listed: { ...other, rival: 77 } }] }, 'agent 85'],
    ['an agent that nobody knows', { origins: [origin(90), claude(85)] }, 'agent 85'],
    ['only the nearest agent counts', { origins: [claude(88), listed] }, 'agent 88'],
    ['one that was started inside, and is on record itself', { ...marked, origins: [shell, { ...listed, marker: MARKER }, own] }, 's2 by registry'],
    [
      'a daemon that has our marker, and lists the agent',
      { ...leaked, origins: [shell, { ...listed, marker: MARKER }, daemon(MARKER)] },
      's2 by registry',
    ],
    ['a daemon with our marker, and a stranger in it', { ...leaked, origins: [shell, claude(85, { marker: MARKER }), daemon(MARKER)] }, 'agent 85'],
    ['a daemon with our marker, and nobody tells', { ...marked, origins: [shell, daemon(MARKER)] }, 'nobody'],
    ['a daemon that cannot be looked at', { ...marked, origins: [shell, origin(60, { marker: undefined, daemon: 'a daemon' })] }, 'nobody'],
    ['the daemon’s first caller is its own session, too', { ...leaked, served: served(mine), origins: [shell, daemon(MARKER)] }, 's1 by registry'],
    ['a session of somebody else in it', { ...leaked, served: served(other), origins: [shell, daemon(MARKER)] }, 's2 by registry'],
    ['a session that is on no record', { ...leaked, served: served(null), origins: [shell, daemon(MARKER)] }, 'nobody'],
    ['a session that is over', { ...leaked, served: served(on(ended())), origins: [shell, daemon(MARKER)] }, 'nobody'],
    ['orphaned: the environment alone tells, and came with the marker', { ...leaked, served: served(other), origins: [origin(2)] }, 's2 by registry'],
    ['orphaned, and no daemon bears the environment out', { ...leaked, served: served(other, 'who knows'), origins: [origin(2)] }, 'nobody'],
    ['the same, in a daemon', { ...leaked, served: served(other, 'who knows'), origins: [shell, daemon(MARKER)] }, 'nobody'],
    ['the same, of a run without a marker', { named: unmarked, said: SECRET, served: served(other, 'who knows'), origins: [origin(2)] }, 'nobody'],
    ['the same, in an agent', { ...leaked, served: served(other, 'who knows'), origins: [claude(88, { marker: MARKER })] }, 'agent 88'],
    ['the same, inside its own agent', { ...leaked, served: served(other, 'who knows'), origins: [shell, own] }, 's1 by process'],
    ['orphaned, without a marker: it may be a copy', { served: served(other), origins: [origin(2)] }, 'nobody'],
    [
      'another agent inside a session of the daemon',
      { ...leaked, served: served(other), origins: [shell, claude(88, { marker: MARKER }), claude(85, { marker: MARKER }), daemon(MARKER)] },
      'agent 88',
    ],
    [
      'one of another harness inside it',
      { ...leaked, served: served(other), origins: [claude(88, { marker: MARKER, agent: agent(88, { harness: 'codex' }) }), daemon(MARKER)] },
      'agent 88',
    ],
    [
      'its agent, which its harness does not list',
      { ...leaked, served: served(other), origins: [claude(88, { marker: MARKER }), daemon(MARKER)] },
      's2 by registry',
    ],
    ['a run that was started inside a session of it', { ...inside, origins: [shell, own, claude(70), daemon(null)] }, 's1 by marker'],
    ['the same, and the daemon has another marker', { ...inside, origins: [shell, own, daemon(OTHER_MARKER)] }, 's1 by marker'],
    [
      'a run without a marker, started inside it',
      { named: unmarked, said: SECRET, origins: [origin(80, { recorded: unmarked }), daemon(null)] },
      's1 by process',
    ],
    ['a run inside it whose environment still names a session there', { ...inside, named: other, served: served(other) }, 's1 by marker'],
  ]
  test.each(cases)('%s', (_what, given, answer) => expect(told(given)).toBe(answer))
})

/* Anything that may be around. */
const records = fc.constantFrom(null, null, mine, other, adopted, on(ended()), on(running(), 9))
const markers = fc.constantFrom(null, MARKER, OTHER_MARKER)
const origins = fc.array(
  fc
    .record({
      marker: fc.constantFrom(null, undefined, MARKER, OTHER_MARKER),
      recorded: records,
      isAgent: fc.boolean(),
      listed: records,
      isDaemon: fc.boolean(),
    })
    .map(
      ({ marker, recorded, isAgent, listed, isDaemon }) =>
        (pid: number) =>
          origin(pid, {
            marker,
            recorded: recorded !== null && recorded.run.state !== 'completed' ? recorded : null,
            agent: isAgent ? agent(pid, { nativeId: listed === null ? null : 'X' }) : null,
            listed: isAgent && listed !== null ? alone(listed) : null,
            daemon: isDaemon ? 'a daemon' : null,
          }),
    ),
  { maxLength: 6 },
)
const anyFacts: fc.Arbitrary<SelfFacts> = fc
  .record({
    marker: markers,
    marked: records,
    contained: fc.boolean(),
    named: records,
    said: fc.record({ epoch: fc.constantFrom('1', '3', undefined), secret: fc.constantFrom('mine', 'theirs', 'none', undefined) }),
    origins: origins.map((made) => made.map((make, index) => make(90 - index))),
    served: fc.option(fc.record({ harness: fc.constant('claude'), id: fc.constant('X'), owner: records, doubt: fc.constantFrom(null, 'who knows') })),
    elsewhere: fc.boolean(),
    doubt: fc.constantFrom(null, 'who knows'),
  })
  .map((any) => ({ ...any, marked: any.marker === null || any.marked?.run.marker !== any.marker ? null : any.marked }))

verifies('self', 'whoever is a session is the live owner of it, and something proves that; an environment alone never does', () => {
  const isOwner = ({ session: { epoch }, run }: { session: OnRecord['session']; run: LiveRun }): boolean => epoch === run.epoch
  fc.assert(
    fc.property(anyFacts, (given) => {
      const self = decideSelf(given)
      expect(self.why).not.toBe('')
      if (self.kind !== 'session') return
      expect(['starting', 'running', 'stopping'].includes(self.run.state) && isOwner(self)).toBe(true)
      const { id } = self.run
      const proofs = {
        cookie: given.named?.run.id === id && given.said.secret === self.run.cookie && (self.run.marker === null || self.run.marker === given.marker),
        marker:
          given.marker !== null &&
          given.marker === self.run.marker &&
          (given.contained || given.origins.some(({ recorded }) => recorded?.run.id === id)),
        process: given.origins.some(({ recorded }) => recorded?.run.id === id),
        registry: given.origins.some(({ listed }) => listed?.run.id === id) || (given.served?.doubt === null && given.served.owner?.run.id === id),
      }
      expect(proofs[self.how]).toBe(true)
    }),
    { numRuns: 2000 },
  )
})
