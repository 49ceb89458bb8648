import { beforeEach, expect, test, vi } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { Part } from '../../src/daemon/frame/loop.ts'
import { notifyParts } from '../../src/daemon/parts/notify-part.ts'
import { type Notification, policy } from '../../src/model/index.ts'

const app = vi.hoisted(() => ({ news: [] as unknown[], why: null as string | null, deliver: vi.fn() }))
vi.mock('../../src/app/index.ts', () => ({
  deliver: app.deliver,
  newNotifications: async () => app.news,
  notifyWays: () => [{ way: 'command', why: app.why }],
  nothingHeard: () => ({ notified: null }),
  nothingSeen: () => ({}),
  watchActivities: async () => ({}),
}))

let parts: Part[]
const wake = vi.fn()
const round = (name: string): Promise<unknown> => (parts.find((part) => part.name === name) as Part).round()
const trouble = (): string | null | undefined => parts.find(({ name }) => name === 'notify-command')?.trouble?.()
const fails = (): void => void app.deliver.mockRejectedValue(new Error('sh ended with code 7'))
const works = (): void => void app.deliver.mockResolvedValue(undefined)
async function hear(...seqs: number[]): Promise<void> {
  app.news = seqs.map((seq) => ({ seq }) as Notification)
  await round('notify')
}

beforeEach(() => {
  app.deliver.mockReset()
  app.why = null
  wake.mockReset()
  parts = notifyParts({ worlds: { use: async (body: (world: object) => unknown) => body({}) }, wake } as unknown as Daemon)
})

test('a way that has dropped what it could not tell is not well again before something came through', async () => {
  await hear(1)
  fails()
  for (let times = 0; times < policy.notifyTries; times++) await expect(round('notify-command')).rejects.toThrow('code 7')
  expect(await round('notify-command')).toEqual({ told: 0, dropped: 1 })
  expect(trouble()).toBe('sh ended with code 7')
  expect(app.deliver).toHaveBeenCalledTimes(policy.notifyTries)
  works()
  await hear(2)
  expect(await round('notify-command')).toEqual({ told: 1, dropped: 1 })
  expect(trouble()).toBeNull()
})

test('one that was turned off is no trouble any more', async () => {
  await hear(1)
  fails()
  for (let times = 0; times < policy.notifyTries; times++) await expect(round('notify-command')).rejects.toThrow('code 7')
  app.why = 'config.toml has turned it off'
  await round('notify-command')
  expect(trouble()).toBeNull()
})

test('what there is no room for is counted, and each is told once, one in a round, as long as more wait', async () => {
  await hear(...Array.from({ length: policy.notifyQueue + 3 }, (_, index) => index))
  works()
  for (let left = policy.notifyQueue; left > 0; left--) {
    wake.mockReset()
    expect(await round('notify-command')).toEqual({ told: 1, dropped: 3 })
    // One that takes nearly all the time that a command has must not make a round of minutes.
    expect(wake.mock.calls).toEqual(left > 1 ? [['notify-command']] : [])
  }
  expect(app.deliver.mock.calls.map(([, , { seq }]) => seq as number)).toEqual(Array.from({ length: policy.notifyQueue }, (_, index) => index + 3))
  expect(await round('notify-command')).toEqual({ told: 0, dropped: 3 })
})

test('one that fails is not hurried, whatever waits behind it', async () => {
  await hear(1, 2)
  wake.mockReset()
  fails()
  await expect(round('notify-command')).rejects.toThrow('code 7')
  expect(wake).not.toHaveBeenCalled()
})
