import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NewRequest, Receipt, RequestEnding, Store, WorkOrder } from '../../src/model/index.ts'
import { isOpen } from '../../src/model/index.ts'
import { ORDER, RESULT } from '../decide/work.ts'
import { verifies } from '../requirements.ts'
import { inStore, type OpenStore, place } from './examples.ts'

const CLAIMANT = { process: { pid: 7, ticks: 8 }, place, host: 'box' }
const RECEIPT: Receipt = { way: 'run', run: null, epoch: 0, message: null, why: '' }
const ENDING: RequestEnding = { state: 'done', reason: 'reported', summary: 'it is done', by: 'agent' }
const CLOSING = { reason: 'cancelled', summary: 'ann cancelled it', by: 'ann@box', at: 9 } as const

export const aNew = (id: string, order: Partial<WorkOrder> = {}, more: Partial<NewRequest> = {}): NewRequest => ({
  id,
  order: { ...ORDER, ...order },
  session: `work-${id}`,
  branch: `holdfast/${id}`,
  waitsFor: null,
  summary: null,
  at: 1,
  ...more,
})

/** What every store has to do about requests and feedback. */
export function requestConformance(name: string, open: OpenStore): void {
  const withStore = inStore(open)
  const claim = async (store: Store, id: string, token = 0) =>
    store.requests.claim({ id, token, seenClaim: await store.requests.newestClaim(), seenEpoch: 0, claimant: CLAIMANT, at: 2 })
  const running = async (store: Store, id: string) => {
    await store.requests.add(aNew(id))
    const token = (await claim(store, id)) ?? 0
    await store.requests.recordPlaced({ id, token }, { dir: '/w', branch: 'b', base: 'abc' }, 3)
    await store.requests.recordStarted({ id, token }, `r-${id}`, 4)
    return { id, token }
  }
  const say = (store: Store, request: string, id: string, key: string | null = null) =>
    store.feedback.add({ id, request, text: `text of ${id}`, by: 'ann@box', key, at: 5 })

  test(
    `${name}: a request goes from its order to its end, and its story tells each step`,
    withStore(async (store) => {
      const holds = await running(store, 'waaaa')
      expect(await store.requests.recordResult(holds, RESULT, 6)).toBe(true)
      expect(await store.requests.recordEnded(holds, ENDING, 7)).toBe(true)
      expect(await store.requests.get('waaaa')).toMatchObject({
        id: 'waaaa',
        order: ORDER,
        state: 'done',
        reason: 'reported',
        summary: 'it is done',
        token: 1,
        attempt: 1,
        run: 'r-waaaa',
        dir: '/w',
        branch: 'b',
        base: 'abc',
        result: RESULT,
        endedAt: 7,
        pending: 0,
      })
      expect((await store.requests.story('waaaa', 99)).map(({ kind }) => kind)).toEqual(['added', 'claimed', 'placed', 'started', 'result', 'done'])
      expect((await store.requests.ofRun('r-waaaa'))?.id).toBe('waaaa')
    }),
  )

  verifies(
    'epoch',
    `${name}: whoever writes to a request with an older token changes nothing`,
    withStore(async (store) => {
      const old = await running(store, 'waaaa')
      await store.requests.recordReleased(old, { why: 'killed', dueAt: null, counts: true }, 5)
      const token = await claim(store, 'waaaa', old.token)
      expect(token).toBe(2)
      const before = await store.requests.get('waaaa')
      const late = [
        store.requests.recordPlaced(old, { dir: '/x', branch: 'x', base: 'x' }, 6),
        store.requests.recordStarted(old, 'r-old', 6),
        store.requests.recordResult(old, RESULT, 6),
        store.requests.recordReleased(old, { why: 'late', dueAt: null, counts: true }, 6),
        store.requests.recordPaused(old, { cause: 'review', summary: 'late', dueAt: null }, 6),
        store.requests.recordDue(old, { why: 'late', rework: true }, 6),
        store.requests.recordTrouble(old, { step: 'start', why: 'late', times: 1, at: 6 }, 9, 6),
        store.requests.recordEnded(old, ENDING, 6),
      ]
      expect(await Promise.all(late)).toEqual(late.map(() => false))
      expect(await store.requests.get('waaaa')).toEqual(before)
    }),
  )

  verifies(
    'one-owner',
    `${name}: of those who claim a request, or look at the same limits, one wins`,
    withStore(async (store, again) => {
      const other = await again()
      for (const id of ['waaaa', 'wbbbb']) await store.requests.add(aNew(id))
      const seenClaim = await store.requests.newestClaim()
      const both = [
        store.requests.claim({ id: 'waaaa', token: 0, seenClaim, seenEpoch: 0, claimant: CLAIMANT, at: 2 }),
        other.requests.claim({ id: 'waaaa', token: 0, seenClaim, seenEpoch: 0, claimant: CLAIMANT, at: 2 }),
        other.requests.claim({ id: 'wbbbb', token: 0, seenClaim, seenEpoch: 0, claimant: CLAIMANT, at: 2 }),
      ]
      expect((await Promise.all(both)).filter((token) => token !== null)).toEqual([1])
      other.close()
    }),
  )

  verifies(
    'one-end',
    `${name}: feedback that has not arrived is ignored in the transaction that ends its request, and none is added after`,
    withStore(async (store) => {
      const holds = await running(store, 'waaaa')
      for (const id of ['f1', 'f2', 'f3']) expect(await say(store, 'waaaa', id)).toEqual({ kind: 'added', id })
      expect((await store.feedback.begin(holds, RECEIPT, 6)).map(({ id, state }) => [id, state])).toEqual([
        ['f1', 'delivering'],
        ['f2', 'delivering'],
        ['f3', 'delivering'],
      ])
      await store.feedback.record('f1', 'delivered', null, 6)
      await store.feedback.record('f2', 'returned', null, 6)
      expect((await store.requests.get('waaaa'))?.pending).toBe(2)
      await store.requests.recordEnded(holds, ENDING, 7)
      expect((await store.feedback.list('waaaa')).map(({ state }) => state)).toEqual(['delivered', 'ignored', 'ignored'])
      for (const id of ['f2', 'f3']) expect(await store.feedback.record(id, 'delivered', null, 8)).toBe(false)
      expect(await store.feedback.begin(holds, RECEIPT, 8)).toEqual([])
      expect((await say(store, 'waaaa', 'f4')).kind).toBe('over')
      expect((await say(store, 'wnone', 'f5')).kind).toBe('unknown')
      expect((await store.requests.get('waaaa'))?.pending).toBe(0)
    }),
  )

  test(
    `${name}: feedback with the same key counts once`,
    withStore(async (store) => {
      await running(store, 'waaaa')
      expect(await say(store, 'waaaa', 'f1', 'check:abc')).toEqual({ kind: 'added', id: 'f1' })
      expect(await say(store, 'waaaa', 'f2', 'check:abc')).toEqual({ kind: 'known', id: 'f1' })
      expect((await store.feedback.list('waaaa')).map(({ id }) => id)).toEqual(['f1'])
    }),
  )

  test(
    `${name}: nothing is claimed or delivered once somebody wants it over`,
    withStore(async (store) => {
      await store.requests.add(aNew('wbbbb'))
      expect(await store.requests.recordClosing('wbbbb', CLOSING, 9)).toBe(true)
      expect(await claim(store, 'wbbbb')).toBe(null)
      const holds = await running(store, 'waaaa')
      await say(store, 'waaaa', 'f1')
      expect(await store.requests.recordClosing('waaaa', CLOSING, 9)).toBe(true)
      // The first one stands.
      expect(await store.requests.recordClosing('waaaa', { ...CLOSING, by: 'bob@box' }, 10)).toBe(true)
      expect((await store.requests.get('waaaa'))?.closing).toEqual(CLOSING)
      expect(await store.feedback.begin(holds, RECEIPT, 9)).toEqual([])
      await store.requests.recordEnded(holds, { ...ENDING, state: 'cancelled', reason: 'cancelled' }, 10)
      expect(await store.requests.recordClosing('waaaa', CLOSING, 11)).toBe(false)
    }),
  )

  test(
    `${name}: feedback begins the attempts anew, and a start that never began does not count`,
    withStore(async (store) => {
      const first = await running(store, 'waaaa')
      await store.requests.recordPaused(first, { cause: 'feedback', summary: 's', dueAt: null }, 5)
      await store.requests.recordDue(first, { why: 'feedback', rework: true }, 6)
      expect(await store.requests.get('waaaa')).toMatchObject({ state: 'queued', attempt: 0, rework: 1, cause: null })
      const second = { id: 'waaaa', token: (await claim(store, 'waaaa', 1)) ?? 0 }
      expect((await store.requests.get('waaaa'))?.attempt).toBe(1)
      await store.requests.recordReleased(second, { why: 'the directory is held', dueAt: 99, counts: false }, 7)
      expect(await store.requests.get('waaaa')).toMatchObject({ state: 'queued', attempt: 0, dueAt: 99, claimant: null })
    }),
  )

  test(
    `${name}: the open ones come by priority and age, and a source hands each over once`,
    withStore(async (store) => {
      await store.requests.add(aNew('wold1', {}, { at: 1 }))
      await store.requests.add(aNew('wnew1', { priority: 2 }, { at: 5 }))
      await store.requests.add(aNew('wnew2', { priority: 1 }, { at: 6 }))
      await store.requests.add(aNew('wsame', { priority: 2, source: { name: 'github', key: 'o/r#1' } }, { at: 4 }))
      expect(await store.requests.add(aNew('wtwice', { source: { name: 'github', key: 'o/r#1' } }))).toEqual({ kind: 'known', id: 'wsame' })
      expect((await store.requests.list('open', 9)).map(({ id }) => id)).toEqual(['wnew2', 'wsame', 'wnew1', 'wold1'])
      expect((await store.requests.list('all', 2)).map(({ id }) => id)).toEqual(['wnew2', 'wnew1'])
    }),
  )

  test(
    `${name}: only requests that are over are forgotten, with their stories`,
    withStore(async (store) => {
      const holds = await running(store, 'waaaa')
      await running(store, 'wbbbb')
      await say(store, 'waaaa', 'f1')
      await store.requests.recordEnded(holds, ENDING, 7)
      expect(await store.requests.forget({ endedBefore: 8, limit: 9 })).toEqual(['waaaa'])
      expect(await store.requests.get('waaaa')).toBe(null)
      expect(await store.requests.story('waaaa', 9)).toEqual([])
      expect((await store.requests.list('all', 9)).map(({ id }) => id)).toEqual(['wbbbb'])
    }),
  )

  test(
    `${name}: those that are over come by their ends, the last one first`,
    withStore(async (store) => {
      for (const [id, at] of [
        ['wlate', 9],
        ['wsoon', 7],
      ] as const)
        await store.requests.recordEnded(await running(store, id), ENDING, at)
      await running(store, 'wopen')
      expect((await store.requests.list('ended', 9)).map(({ id }) => id)).toEqual(['wlate', 'wsoon'])
      expect((await store.requests.list('ended', 1)).map(({ id }) => id)).toEqual(['wlate'])
    }),
  )

  const MOVES = ['claim', 'start', 'release', 'pause', 'due', 'done', 'blocked', 'cancelled', 'say', 'begin', 'deliver', 'return', 'closing'] as const
  verifies(
    'one-end',
    `${name}: of any sequence of writers, old tokens among them, one end stands and no feedback is delivered after it`,
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...MOVES), fc.nat(2)), { minLength: 5, maxLength: 25 }), (moves) =>
          inStore(open)(async (store) => {
            await store.requests.add(aNew('waaaa'))
            let end: string | null = null
            for (const [at, [move, back]] of moves.entries()) {
              const now = await store.requests.get('waaaa')
              const holds = { id: 'waaaa', token: Math.max(0, (now?.token ?? 0) - back) }
              const delivered = async () => (await store.feedback.list('waaaa')).filter(({ state }) => state === 'delivered').length
              const before = await delivered()
              const ending = (state: 'done' | 'blocked' | 'cancelled') => store.requests.recordEnded(holds, { ...ENDING, state }, at)
              const [first] = await store.feedback.list('waaaa')
              await {
                claim: () => claim(store, 'waaaa', holds.token),
                start: () => store.requests.recordStarted(holds, `r${at}`, at),
                release: () => store.requests.recordReleased(holds, { why: '', dueAt: null, counts: true }, at),
                pause: () => store.requests.recordPaused(holds, { cause: 'review', summary: '', dueAt: null }, at),
                due: () => store.requests.recordDue(holds, { why: '', rework: true }, at),
                done: () => ending('done'),
                blocked: () => ending('blocked'),
                cancelled: () => ending('cancelled'),
                say: () => say(store, 'waaaa', `f${at}`),
                begin: () => store.feedback.begin(holds, RECEIPT, at),
                deliver: () => store.feedback.record(first?.id ?? '', 'delivered', null, at),
                return: () => store.feedback.record(first?.id ?? '', 'returned', null, at),
                closing: () => store.requests.recordClosing('waaaa', CLOSING, at),
              }[move]()
              const then = await store.requests.get('waaaa')
              if (then === null) throw new Error('it is on record')
              if (end !== null) expect([then.state, await delivered()]).toEqual([end, before])
              if (back > 0 && ['start', 'release', 'pause', 'due', 'done', 'blocked', 'cancelled'].includes(move) && holds.token < (now?.token ?? 0))
                expect(then).toEqual(now)
              if (!isOpen(then)) {
                end = then.state
                expect((await store.feedback.list('waaaa')).filter(({ state }) => state !== 'delivered' && state !== 'ignored')).toEqual([])
              }
            }
          })(),
        ),
        { seed: 20, numRuns: 60 },
      )
    },
  )
}
