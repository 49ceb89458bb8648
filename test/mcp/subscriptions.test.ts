import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { World } from '../../src/app/index.ts'
import { EVENTS } from '../../src/mcp/event-uri.ts'
import { type Subscriptions, watchEvents } from '../../src/mcp/subscriptions.ts'
import type { HoldfastEvent } from '../../src/model/index.ts'
import { Problem, policy } from '../../src/model/index.ts'

type Watched = {
  readonly subscriptions: Subscriptions
  readonly published: string[]
  readonly told: string[]
  looks: number
  events: Pick<HoldfastEvent, 'seq' | 'session'>[]
  trouble: Problem | null
}

/** Session `new` was called `old` before. */
const IDS: Readonly<Record<string, string>> = { new: 'new', old: 'new', other: 'other' }

function watched(): Watched {
  const published: string[] = []
  const told: string[] = []
  const all: Watched = {
    published,
    told,
    looks: 0,
    events: [{ seq: 1, session: 'new' }],
    trouble: null,
    subscriptions: watchEvents(
      {
        users: () => 0,
        use: async (body) => {
          all.looks++
          if (all.trouble !== null) throw all.trouble
          return body({ policy, store: async () => store } as unknown as World)
        },
      },
      (text) => told.push(text),
      (uri) => published.push(uri),
    ),
  }
  const store = {
    events: { list: async ({ after, limit }: { after: number; limit: number }) => all.events.filter(({ seq }) => seq > after).slice(-limit) },
    sessions: {
      snapshot: async () => ({ views: [], more: 0 }),
      find: async (reference: string) =>
        IDS[reference] === undefined ? { kind: 'none' } : { kind: 'found', view: { session: { id: IDS[reference] }, run: null } },
    },
  }
  return all
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())
const later = (times = 1): Promise<unknown> => vi.advanceTimersByTimeAsync(policy.mcpWatchMs * times)

test('nobody looks while nobody is subscribed, neither before nor after', async () => {
  const all = watched()
  await later(5)
  expect(all.looks).toBe(0)
  await all.subscriptions.add('a', [EVENTS])
  await later(3)
  expect(all.looks).toBe(4)
  all.subscriptions.remove('a')
  await later()
  const { looks } = all
  await later(5)
  expect(all.looks).toBe(looks)
  expect(vi.getTimerCount()).toBe(0)
  await all.subscriptions.add('b', [EVENTS])
  expect(all.looks).toBe(looks + 1)
})

test('whoever subscribes is told of what happens from then on, each of its own', async () => {
  const all = watched()
  await all.subscriptions.add('a', [EVENTS, `${EVENTS}/old`, `${EVENTS}/other`, `${EVENTS}/nobody`, 'file:///etc/passwd'])
  await later()
  expect(all.published).toEqual([])
  all.events.push({ seq: 2, session: 'new' })
  await later()
  expect(all.published).toEqual([EVENTS, `${EVENTS}/old`])
  await later(3)
  expect(all.published).toHaveLength(2)
  all.events.push({ seq: 3, session: 'third' }, { seq: 4, session: 'other' })
  await later()
  expect(all.published.slice(2)).toEqual([EVENTS, `${EVENTS}/other`])
})

test('a store that was lost and made again may have anything in it', async () => {
  const all = watched()
  all.events = [{ seq: 9, session: 'new' }]
  await all.subscriptions.add('a', [EVENTS, `${EVENTS}/other`])
  all.events = [{ seq: 2, session: 'new' }]
  await later()
  expect(all.published).toEqual([EVENTS, `${EVENTS}/other`])
  await later(2)
  expect(all.published).toHaveLength(2)
})

test('a store that cannot be read is told of once, and afterwards whoever is subscribed is told to look', async () => {
  const all = watched()
  all.trouble = new Problem('store-damaged', 'the store is damaged')
  await all.subscriptions.add('a', [`${EVENTS}/other`])
  await later(3)
  expect(all.told).toEqual(['what happens cannot be told: the store is damaged'])
  expect(all.published).toEqual([])
  all.trouble = null
  await later(2)
  expect(all.published).toEqual([`${EVENTS}/other`])
})

test('there is a bound to what one can subscribe to', async () => {
  const all = watched()
  await all.subscriptions.add(
    'a',
    Array.from({ length: policy.mcpSubscriptions + 10 }, () => `${EVENTS}/other`).map((uri, index) => `${uri}${index}`),
  )
  all.events = []
  await later()
  expect(all.published).toHaveLength(policy.mcpSubscriptions)
})
