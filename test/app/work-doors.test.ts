import fc from 'fast-check'
import { expect } from 'vitest'
import { addFeedback, cancelRequest, finishRequest, retryRequest } from '../../src/app/index.ts'
import { isOpen, Problem } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'
import { workLab } from './work-lab.ts'

const DOORS = ['feedback', 'cancel', 'finish', 'claim', 'deliver', 'arrive', 'pause', 'release', 'end', 'retry'] as const
const RECEIPT = { way: 'message', run: 'r1', epoch: 1, message: 1, why: 'w' } as const

verifies('one-end', 'through every door, in any order, a request has one end, and its feedback is not delivered after that', async () => {
  const { add, world, requests, get, claim, sim } = await workLab()
  const { feedback } = sim.store
  const through = async (id: string, door: (typeof DOORS)[number]): Promise<unknown> => {
    const at = sim.clock.now()
    const holds = { id, token: (await get(id)).token }
    switch (door) {
      case 'feedback':
        return addFeedback(world, id, 'rename it')
      case 'cancel':
        return cancelRequest(world, id)
      case 'finish':
        return finishRequest(world, { request: id, summary: 'done' })
      case 'claim':
        return claim(id).catch(() => {})
      case 'deliver':
        return feedback.begin(holds, RECEIPT, at)
      case 'arrive':
        return Promise.all((await feedback.list(id)).map((one) => feedback.record(one.id, 'delivered', RECEIPT, at)))
      case 'pause':
        return requests.recordPaused(holds, { cause: 'review', summary: 's', dueAt: null }, at)
      case 'release':
        return requests.recordReleased(holds, { why: 'w', dueAt: null, counts: true }, at)
      case 'end':
        return requests.recordEnded(holds, { state: 'blocked', reason: 'no-result', summary: 's', by: 'agent' }, at)
      case 'retry':
        return retryRequest(world, id)
    }
  }
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...DOORS), { minLength: 1, maxLength: 12 }), async (doors) => {
      const { id } = await add()
      let over: string | null = null
      for (const door of doors) {
        await through(id, door).catch((error: unknown) => {
          if (!(error instanceof Problem)) throw error
        })
        const [request, said] = [await get(id), await feedback.list(id)]
        // An end and all that belongs to it never change again.
        const now = JSON.stringify([request, said])
        if (over !== null) expect(now).toBe(over)
        if (isOpen(request)) continue
        over = now
        expect(request.reason).not.toBeNull()
        expect(said.filter(({ state }) => state === 'pending' || state === 'delivering')).toEqual([])
      }
      // What one history leaves open is in the way of no other.
      if (isOpen(await get(id)))
        await requests.recordEnded({ id, token: (await get(id)).token }, { state: 'cancelled', reason: 'cancelled', summary: 's', by: 'a' }, 1)
    }),
    { seed: 20, numRuns: 60 },
  )
})
