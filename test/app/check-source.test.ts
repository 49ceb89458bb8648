import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkSource } from '../../src/app/index.ts'
import type { Source } from '../../src/model/index.ts'
import { httpSource, STANDARD } from '../../src/source/index.ts'
import { type Plane, servePlane } from '../fixtures/work-source.ts'

let plane: Plane
beforeEach(async () => {
  plane = await servePlane()
})
afterEach(() => plane.close())
const sourceWith = (token: string | null): Source =>
  httpSource({ name: 'plane', url: plane.url, token: async () => token, host: 'here', worker: 'w1' }, STANDARD)
const wrong = async (item: string | null): Promise<string[]> =>
  (await checkSource(sourceWith(plane.token), sourceWith(null), item)).filter(({ passed }) => !passed).map(({ step }) => step)

test('the reference server passes every step', async () => {
  plane.add({ id: 'try-1' })
  expect(await wrong('try-1')).toEqual([])
})

test('without an item the check changes nothing', async () => {
  plane.add({ id: 'try-1' })
  expect(await wrong(null)).toEqual([])
  expect(new Set(plane.calls)).toEqual(new Set(['list', 'look']))
})

test.each([
  ['claim', ['claim']],
  ['heartbeat', ['heartbeat', 'heartbeat with a forged token']],
  ['reports', ['report', 'report once more', 'report with a forged token']],
  ['feedback', ['feedback']],
  ['list', ['list', 'list without a credential']],
])('a fault of %s is named', async (route, steps) => {
  plane.add({ id: 'try-1' })
  plane.fault = (called) => (called === route ? { status: 500 } : null)
  expect(await wrong('try-1')).toEqual(steps)
})

test('a server that lets anyone in, and forgets keys, is told so', async () => {
  plane.add({ id: 'try-1' })
  let claims = 0
  plane.fault = (route) => {
    if (route === 'list') return { status: 200, body: '{"requests":[]}' }
    return route === 'claim' ? { status: 200, body: JSON.stringify({ token: `t${++claims}` }) } : null
  }
  const found = await wrong('try-1')
  expect(found).toEqual(expect.arrayContaining(['list without a credential', 'claim again with the same key', 'claim with another key']))
})
