import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { announced, newsFor, toldFrom } from '../../src/decide/index.ts'
import { type Around, MESSAGES, type Peer, type Told } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { intent } from './build.ts'

const peer = (session: string, run = `r-${session}`): Peer => ({ run, session, harness: 'claude', plan: null })
/** Sent as many minutes into the day as its number, if the store was never lost. */
const sent = (seq: number, at = seq * 60_000) => ({ seq, at })
const around = (over: Partial<Around> = {}): Around => ({ peers: [], gone: [], unread: [], retired: null, ...over })
const told = (over: Partial<Told> = {}): Told => ({ here: [], message: sent(0), retired: false, greeted: true, ...over })
const unread = (...seqs: number[]) => seqs.map((seq) => ({ ...sent(seq), from: `sender-${seq}`, earlier: false }))
const notice = (topic: string) => ({ topic, text: `about ${topic}` })

describe('what is new to an agent', () => {
  const [a, b] = [peer('a'), peer('b')]
  const cases: readonly [what: string, before: Told | null, seen: Around, news: ReturnType<typeof newsFor>['news']][] = [
    ['nobody is here at its first prompt', null, around(), null],
    ['who is here already', null, around({ peers: [a] }), { ...nothing(), first: true, joined: [a] }],
    ['nothing, when all of them are known', told({ here: [a.run] }), around({ peers: [a] }), null],
    ['who joined', told({ here: [a.run] }), around({ peers: [a, b] }), { ...nothing(), joined: [b] }],
    ['who left', told({ here: [a.run] }), around({ gone: [a] }), { ...nothing(), left: [a] }],
    ['nothing of one that is not seen and not proven over', told({ here: [a.run] }), around(), null],
    ['nothing, when one that is known has another id', told({ here: [a.run] }), around({ peers: [{ ...a, session: 'renamed' }] }), null],
    ['nothing, when it is here in its next run', told({ here: [a.run] }), around({ peers: [peer('a', 'r2')], gone: [a] }), null],
    ['messages', told(), around({ unread: unread(3, 4) }), { ...nothing(), messages: { count: 2, earlier: 0, from: 'sender-4' } }],
    ['nothing, while the same ones wait', told({ message: sent(4) }), around({ unread: unread(3, 4) }), null],
    [
      'a later message, with all that wait',
      told({ message: sent(3) }),
      around({ unread: unread(3, 4) }),
      { ...nothing(), messages: { count: 2, earlier: 0, from: 'sender-4' } },
    ],
    [
      'messages that were sent to the run before, as what they are',
      null,
      around({ unread: [{ ...sent(3), from: 'a', earlier: true }, ...unread(4)] }),
      { ...nothing(), first: true, messages: { count: 2, earlier: 1, from: 'sender-4' } },
    ],
    ['its own end', told(), around({ retired: { session: 's', intent } }), { ...nothing(), retired: { session: 's', intent } }],
    ['its own end, once', told({ retired: true }), around({ retired: { session: 's', intent } }), null],
  ]
  test.each(cases)('%s', (_what, before, seen, news) => expect(newsFor(before, seen, []).news).toEqual(news))

  test('a notice that nobody told yet is told with it; of messages, what is true by then', () => {
    const known = told({ message: sent(4) })
    expect(newsFor(known, around(), [notice('conflict-r1')]).news).toEqual({ ...nothing(), notices: ['about conflict-r1'] })
    expect(newsFor(known, around({ unread: unread(4) }), [notice(MESSAGES)]).news).toEqual({
      ...nothing(),
      messages: { count: 1, earlier: 0, from: 'sender-4' },
    })
    // They were read in between.
    expect(newsFor(known, around(), [notice(MESSAGES)]).news).toBeNull()
  })

  function nothing() {
    return { first: false, joined: [], left: [], messages: null, retired: null, notices: [] }
  }
})

describe('a message is announced by whoever is first', () => {
  test('its sender, if no prompt has told it; and then no prompt does', () => {
    const once = announced(null, sent(7))
    expect(once).toMatchObject({ message: sent(7), greeted: false })
    expect(newsFor(once, around({ unread: unread(7) }), []).news).toBeNull()
    expect(announced(once, sent(7))).toBeNull()
    expect(announced(once, sent(8))).toMatchObject({ message: sent(8) })
  })
  test('a prompt, and then its sender does not', () => expect(announced(newsFor(null, around({ unread: unread(7) }), []).told, sent(7))).toBeNull())
  test('also when the store was lost, and what is sent later has lower numbers', () => {
    const [before, later] = [told({ message: sent(40) }), sent(1, sent(41).at)]
    expect(announced(before, later)).toMatchObject({ message: later })
    const first = newsFor(before, around({ unread: [{ ...later, from: 'b', earlier: false }] }), [])
    expect([first.news?.messages, first.told.message]).toEqual([{ count: 1, earlier: 0, from: 'b' }, later])
    expect(newsFor(first.told, around({ unread: [{ ...later, from: 'b', earlier: false }] }), []).news).toBeNull()
    expect(announced(first.told, later)).toBeNull()
    const second = sent(2, sent(42).at)
    expect(announced(first.told, second)).toMatchObject({ message: second })
    // The clock went back: then its number says it.
    expect(announced(told({ message: sent(40) }), sent(41, 0))).toMatchObject({ message: sent(41, 0) })
  })
  test('an agent that was told of a message, and never had a prompt, still hears who is here already', () => {
    const { news } = newsFor(announced(null, sent(7)), around({ peers: [peer('a')] }), [])
    expect(news).toMatchObject({ first: true, joined: [{ session: 'a' }] })
  })
})

test('what was written down comes back, and nonsense is nothing', () => {
  const some = told({ here: ['r1'], message: sent(3) })
  expect(toldFrom(JSON.stringify(some))).toEqual(some)
  for (const text of [
    null,
    '',
    '{',
    'null',
    '[]',
    '{"here":1,"message":{"seq":0,"at":0},"retired":false,"greeted":true}',
    '{"here":[],"message":7,"retired":false,"greeted":true}',
    '{"here":[]}',
  ])
    expect(toldFrom(text)).toBeNull()
})

/** A session of somebody else, in its present run. */
type Other = { id: string; run: string; state: 'live' | 'unseen' | 'over' }
const steps = fc.array(fc.tuple(fc.constantFrom('join', 'end', 'resume', 'rename', 'hide', 'show', 'prompt'), fc.nat(5)), {
  minLength: 1,
  maxLength: 40,
})

verifies('self', 'in any history an agent believes exactly those to be here who are, and nothing is told twice', () => {
  fc.assert(
    fc.property(steps, (history) => {
      const others: Other[] = []
      const past = new Map<string, Other>()
      const believed = new Set<Other>()
      let known: Told | null = null
      let serial = 0
      const begin = (other: Other): void => {
        other.run = `r${++serial}`
        other.state = 'live'
        past.set(other.run, other)
      }
      const look = (): Around => {
        const peers = others.filter(({ state }) => state === 'live').map(({ id, run }) => peer(id, run))
        const missed: readonly string[] = known?.here.filter((run) => !peers.some((one) => one.run === run)) ?? []
        const gone = missed.filter((run) => past.get(run)?.run !== run || past.get(run)?.state === 'over')
        return around({ peers, gone: gone.map((run) => peer(past.get(run)?.id ?? '', run)) })
      }
      for (const [step, at] of history) {
        const other = others[at % Math.max(1, others.length)]
        if (step === 'join') {
          const fresh: Other = { id: `s${++serial}`, run: '', state: 'live' }
          others.push(fresh)
          begin(fresh)
        } else if (step === 'prompt') {
          const { news, told: next } = newsFor(known, look(), [])
          for (const { session } of news?.left ?? []) expect(believed.delete(byId(others, session))).toBe(true)
          for (const { session } of news?.joined ?? []) {
            expect(believed.has(byId(others, session))).toBe(false)
            believed.add(byId(others, session))
          }
          known = next
          expect(newsFor(known, look(), []).news).toBeNull()
          for (const one of others) if (one.state !== 'unseen') expect(believed.has(one), `${one.id} is ${one.state}`).toBe(one.state === 'live')
          expect(known.here.length).toBeLessThanOrEqual(others.length)
        } else if (other === undefined) continue
        else if (step === 'end') other.state = 'over'
        else if (step === 'resume' && other.state === 'over') begin(other)
        else if (step === 'rename') other.id = `s${++serial}`
        else if (step === 'hide' && other.state === 'live') other.state = 'unseen'
        else if (step === 'show' && other.state === 'unseen') other.state = 'live'
      }
    }),
    { numRuns: 2000 },
  )
})

const byId = (others: readonly Other[], id: string): Other => others.find((one) => one.id === id) as Other
