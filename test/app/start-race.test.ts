import { expect } from 'vitest'
import { start } from '../../src/app/start/start.ts'
import type { World } from '../../src/app/world/world.ts'
import { verifies } from '../requirements.ts'
import { aRequest, outside, type Starting, starting } from '../sim/starting.ts'

/** The same world, in which somebody else does something right before the locks are read for the first time. */
function overtaken(lab: Starting, what: () => Promise<unknown>): World {
  const { store } = lab.sim
  let isDone = false
  const all: typeof store.locks.all = async (...args) => {
    const isFirst = !isDone
    isDone = true
    if (isFirst) await what()
    return store.locks.all(...args)
  }
  return { ...lab.world, store: async () => ({ ...store, locks: { ...store.locks, all } }) }
}

const begin = (world: World, lab: Starting, more: Parameters<typeof aRequest>[1] = {}) =>
  start(world, aRequest(lab, more), undefined, outside).then(
    (started) => started.kind,
    (error: unknown) => error,
  )

verifies('one-owner', 'the loser of a race for a session hears who holds it', async () => {
  const lab = await starting()
  const world = overtaken(lab, () => begin(lab.world, lab))
  expect(await begin(world, lab)).toMatchObject({ id: 'owner-alive', message: expect.stringContaining('session s is held by') })
})

verifies('evidence', 'a takeover that was overtaken ends nobody, and hears the true reason', async () => {
  const lab = await starting()
  const world = overtaken(lab, () => begin(lab.world, lab))
  expect(await begin(world, lab, { onLive: 'takeover' })).toMatchObject({ id: 'owner-alive' })
  expect(lab.sim.sent).toEqual([])
  expect(await lab.sim.store.sessions.find('s', 'exact')).toMatchObject({ view: { run: { state: 'running', epoch: 1 } } })
})
