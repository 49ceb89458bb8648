import { expect, test, vi } from 'vitest'
import type { World, Worlds } from '../../src/app/index.ts'
import { openMemory } from '../../src/daemon/parts/daemon-events.ts'
import { verifies } from '../requirements.ts'

type Detail = Readonly<Record<string, unknown>>

function memory(events: Detail[] = []) {
  const trouble = { why: null as string | null }
  const write = async (): Promise<void> => {
    if (trouble.why !== null) throw new Error(trouble.why)
  }
  const store = {
    tryWrite: write,
    events: {
      recordDaemon: async (detail: Detail, at: number) => {
        await write()
        events.push({ ...detail, at })
      },
      list: async () => events.map((detail) => ({ detail })),
    },
  }
  const shared: Pick<Worlds, 'use'> = { use: (body) => body({ store: async () => store } as unknown as World) }
  const [log, wake] = [vi.fn(), vi.fn()]
  let now = 0
  const clock = { now: () => ++now, elapsed: () => now, sleep: async () => {}, random: () => 0.5 }
  return { ...openMemory(shared, log, clock, wake), events, trouble, log, wake }
}

verifies(
  'visible',
  'a store that cannot be written is a failure, even if nothing is to be recorded; what could not be is recorded later',
  async () => {
    const { remember, part, events, trouble, log, wake } = memory()
    await part.round()
    trouble.why = 'database or disk is full'
    await expect(part.round()).rejects.toThrow('disk is full')
    await remember({ what: 'unhealthy' })
    await remember({ what: 'healthy' })
    expect(log.mock.calls[0]).toEqual(['not recorded as an event (unhealthy): database or disk is full'])
    expect(wake).toHaveBeenCalledTimes(2)
    await expect(part.round()).rejects.toThrow('disk is full')
    trouble.why = null
    await Promise.all([part.round(), part.round()])
    expect(events).toEqual([
      { what: 'unhealthy', at: 1 },
      { what: 'healthy', at: 2 },
    ])
  },
)

test('the end of one that never said it is recorded by the next one, once', async () => {
  const { remember, events } = memory([{ what: 'started', pid: 7 }, { what: 'unhealthy' }])
  await remember({ what: 'started', pid: 8 })
  expect(events.slice(2)).toEqual([
    { what: 'ended', pid: 7, why: 'without a word', at: 1 },
    { what: 'started', pid: 8, at: 1 },
  ])
  await remember({ what: 'ended', pid: 8 })
  await remember({ what: 'started', pid: 9 })
  expect(events.slice(5)).toEqual([{ what: 'started', pid: 9, at: 3 }])
})
