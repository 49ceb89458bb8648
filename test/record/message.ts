import { expect, test } from 'vitest'
import type { LiveRun, NewMessage, Sender, Store } from '../../src/model/index.ts'
import { aClaim, anEnding, aRun, inStore, type OpenStore } from './examples.ts'

/** What every store has to do about what sessions say: to each other, and of themselves. */
export function messageConformance(name: string, open: OpenStore): void {
  const withStore = inStore(open)
  const upTo = (count: number, bytes = 9999) => ({ count, bytes })
  const live = async (store: Store, session: string): Promise<LiveRun> => {
    const run = aRun(session, 1, { dir: `/${session}` })
    await store.claims.claim(aClaim(run, { keeper: { pid: 7, ticks: 8 } }))
    return (await store.runs.get(run.id)) as LiveRun
  }
  const from: Sender = { session: 'a', run: 'r0', how: 'cookie', agent: null, user: 'me', host: 'here' }
  const aMessage = (readers: readonly string[], more: Partial<NewMessage> = {}): NewMessage => ({
    at: 10,
    expiresAt: 100,
    from,
    to: 'session',
    text: 'ä "quoted"\n',
    readers,
    inboxSize: 5,
    ...more,
  })

  test(
    `${name}: a message is read once by each reader, in the order in which it was sent, as it was written`,
    withStore(async (store) => {
      await live(store, 'b')
      await live(store, 'c')
      expect(await store.messages.send(aMessage(['b', 'c', 'b'], { to: 'all' }))).toEqual({ seq: 1, reached: ['b', 'c'], full: [], gone: [] })
      await store.messages.send(aMessage(['b'], { text: 'second' }))
      expect(await store.messages.unread('b', 11)).toBe(2)
      expect((await store.messages.inbox('b', 'peek', upTo(9), 11)).map(({ seq }) => seq)).toEqual([1, 2])
      expect(await store.messages.inbox('b', 'read', upTo(1), 11)).toEqual([
        { seq: 1, at: 10, expiresAt: 100, from, to: 'all', text: 'ä "quoted"\n' },
      ])
      expect((await store.messages.inbox('b', 'read', upTo(9), 11)).map(({ text }) => text)).toEqual(['second'])
      expect(await store.messages.inbox('b', 'read', upTo(9), 11)).toEqual([])
      // What one has read, the other has not.
      expect((await store.messages.inbox('c', 'read', upTo(9), 11)).map(({ seq }) => seq)).toEqual([1])
    }),
  )

  test(
    `${name}: no more is given out at once than one can take in, but one message in any case`,
    withStore(async (store) => {
      await live(store, 'b')
      for (const text of ['ää', 'bb', 'c']) await store.messages.send(aMessage(['b'], { text }))
      expect((await store.messages.inbox('b', 'peek', upTo(9, 6), 11)).map(({ text }) => text)).toEqual(['ää', 'bb'])
      expect((await store.messages.inbox('b', 'read', upTo(9, 1), 11)).map(({ text }) => text)).toEqual(['ää'])
      expect((await store.messages.inbox('b', 'read', upTo(9, 3), 11)).map(({ text }) => text)).toEqual(['bb', 'c'])
    }),
  )

  test(
    `${name}: what could not be handed over waits again, as it was, and once`,
    withStore(async (store) => {
      await live(store, 'b')
      await live(store, 'c')
      await store.messages.send(aMessage(['b', 'c']))
      await store.messages.send(aMessage(['b'], { text: 'second' }))
      const given = await store.messages.inbox('b', 'read', upTo(9), 11)
      await store.messages.giveBack('b', given)
      await store.messages.giveBack('b', given)
      expect(await store.messages.inbox('b', 'read', upTo(9), 11)).toEqual(given)
      expect(await store.messages.unread('b', 11)).toBe(0)
      expect(await store.messages.unread('c', 11)).toBe(1)
    }),
  )

  test(
    `${name}: of many readers at once one gets each message, and none is lost`,
    withStore(async (store, again) => {
      const stores = [store, await again(), await again()]
      await live(store, 'b')
      for (let sent = 0; sent < 20; sent++) await store.messages.send(aMessage(['b'], { inboxSize: 50 }))
      const got = await Promise.all(Array.from({ length: 30 }, (_, index) => (stores[index % 3] as Store).messages.inbox('b', 'read', upTo(1), 11)))
      const seqs = got.flat().map(({ seq }) => seq)
      expect(seqs.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
    }),
  )

  test(
    `${name}: who is over, unknown or has too many unread ones does not get it, and that is said`,
    withStore(async (store) => {
      const over = await live(store, 'over')
      await store.claims.recordEnded(over, anEnding(), null, 5)
      await live(store, 'b')
      expect(await store.messages.send(aMessage(['over', 'nobody']))).toEqual({ seq: null, reached: [], full: [], gone: ['over', 'nobody'] })
      for (let sent = 0; sent < 5; sent++) expect((await store.messages.send(aMessage(['b']))).reached).toEqual(['b'])
      expect(await store.messages.send(aMessage(['b', 'over']))).toEqual({ seq: null, reached: [], full: ['b'], gone: ['over'] })
      await store.messages.inbox('b', 'read', upTo(1), 11)
      expect((await store.messages.send(aMessage(['b']))).reached).toEqual(['b'])
    }),
  )

  test(
    `${name}: what is expired is given to nobody and takes no place; what waits survives the end of its reader's run`,
    withStore(async (store) => {
      const run = await live(store, 'b')
      await store.messages.send(aMessage(['b'], { expiresAt: 20, inboxSize: 1 }))
      expect(await store.messages.unread('b', 19)).toBe(1)
      expect(await store.messages.unread('b', 20)).toBe(0)
      expect(await store.messages.inbox('b', 'read', upTo(9), 20)).toEqual([])
      expect((await store.messages.send(aMessage(['b'], { at: 21, inboxSize: 1 }))).reached).toEqual(['b'])
      await store.claims.recordEnded(run, anEnding(), null, 22)
      await store.claims.claim(aClaim(aRun('b', 2, { dir: '/b2' }), { keeper: { pid: 7, ticks: 8 } }))
      expect((await store.messages.inbox('b', 'read', upTo(9), 23)).map(({ at }) => at)).toEqual([21])
    }),
  )

  test(
    `${name}: what one run left unread is given to the next as sent to that run; of what is sent to the next itself nothing is said`,
    withStore(async (store) => {
      const first = await live(store, 'b')
      await store.messages.send(aMessage(['b'], { text: 'before' }))
      expect((await store.messages.inbox('b', 'peek', upTo(9), 11))[0]).not.toHaveProperty('sentTo')
      await store.claims.recordEnded(first, anEnding(), null, 22)
      const sentTo = { run: first.id, endedAt: 22 }
      // It was never read: also who only looks at the inbox of an ended session is told so.
      expect(await store.messages.inbox('b', 'peek', upTo(9), 23)).toMatchObject([{ text: 'before', sentTo }])
      await store.claims.claim(aClaim(aRun('b', 2, { dir: '/b2' }), { keeper: { pid: 7, ticks: 8 } }))
      await store.messages.send(aMessage(['b'], { at: 24, text: 'after' }))
      const given = await store.messages.inbox('b', 'read', upTo(9), 25)
      expect(given.map((message) => [message.text, message.sentTo])).toEqual([
        ['before', sentTo],
        ['after', undefined],
      ])
      // What could not be handed over is given out again as what it was.
      await store.messages.giveBack('b', given)
      expect(await store.messages.inbox('b', 'read', upTo(9), 25)).toEqual(given)
    }),
  )

  test(
    `${name}: a message goes with its reader, and its sender, when they are rebound`,
    withStore(async (store) => {
      await live(store, 'a')
      await live(store, 'b')
      await store.messages.send(aMessage(['b']))
      await store.sessions.rebind({ session: 'b', epoch: 1, to: 'bb', native: null, how: '', at: 11 })
      // Who had looked for it before still reaches it.
      expect(await store.messages.send(aMessage(['b', 'bb'], { text: 'late' }))).toMatchObject({ reached: ['bb'], gone: [] })
      await store.sessions.rebind({ session: 'a', epoch: 1, to: 'aa', native: null, how: '', at: 11 })
      expect(await store.messages.unread('b', 12)).toBe(0)
      expect((await store.messages.inbox('bb', 'read', upTo(9), 12)).map((message) => message.from.session)).toEqual(['aa', 'aa'])
    }),
  )

  test(
    `${name}: what a session says of itself is that of its live owner: the newest of a kind`,
    withStore(async (store) => {
      const run = await live(store, 'a')
      expect(await store.messages.said([run.id])).toEqual(new Map())
      expect(await store.messages.say(run, 'plan', { text: 'one', at: 1 })).toBe(true)
      expect(await store.messages.say(run, 'plan', { text: 'two', at: 2 })).toBe(true)
      expect(await store.messages.say(run, 'result', { text: 'done', at: 3 })).toBe(true)
      const said = { plan: { text: 'two', at: 2 }, result: { text: 'done', at: 3 } }
      expect(await store.messages.said([run.id, 'r9'])).toEqual(new Map([[run.id, said]]))
      await store.claims.recordEnded(run, anEnding(), null, 5)
      expect(await store.messages.say(run, 'result', { text: 'late', at: 6 })).toBe(false)
      await store.retention.forget({ endedBefore: 10, keep: 0, limit: 9 })
      expect(await store.messages.said([run.id])).toEqual(new Map())
    }),
  )
}
