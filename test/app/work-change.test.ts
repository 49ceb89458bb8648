import { describe, expect, test } from 'vitest'
import {
  addFeedback,
  cancelRequest,
  explainRequest,
  finishRequest,
  ownRequest,
  rerunRequest,
  retryFeedback,
  retryRequest,
  seeFeedback,
  watchRequest,
} from '../../src/app/index.ts'
import { verifies } from '../requirements.ts'
import { refusal, workLab } from './work-lab.ts'

const RECEIPT = { way: 'message', run: 'r1', epoch: 1, message: 1, why: 'w' } as const

describe('cancel', () => {
  verifies('one-end', 'a queued request ends at once, and its feedback with it', async () => {
    const { add, world, get } = await workLab()
    const { id } = await add()
    await addFeedback(world, id, 'rename it')
    expect(await cancelRequest(world, id, 'not needed')).toMatchObject({ kind: 'cancelled', why: null, request: { state: 'cancelled' } })
    expect(await get(id)).toMatchObject({ state: 'cancelled', reason: 'cancelled', summary: 'cancelled by ann@box: not needed', pending: 0 })
    expect(await seeFeedback(world, id)).toMatchObject([{ state: 'ignored', text: 'rename it' }])
  })

  verifies('stop-proof', 'the agent of a running request is ended first', async () => {
    const { add, world, get, run, sim } = await workLab()
    const { id } = await add()
    const { run: runId } = await run(id)
    expect(await cancelRequest(world, id)).toMatchObject({ kind: 'cancelled' })
    expect(await sim.store.runs.get(runId)).toMatchObject({ state: 'stopped', reason: 'cancelled by ann@box' })
    expect(await get(id)).toMatchObject({ state: 'cancelled', run: runId })
  })

  verifies('unknown', 'a request whose tree cannot be proven gone stays open, and the wish stays on record', async () => {
    const { add, world, get, run } = await workLab()
    const { id } = await add()
    await run(id)
    const blind = {
      ...world,
      processes: { ...world.processes, table: () => ({ rows: world.processes.table({ since: 0, cookies: false }).rows, blind: 'EPERM' }) },
    }
    const view = await cancelRequest(blind, id)
    expect(view.kind).not.toBe('cancelled')
    expect(view.why).toContain(`session work-${id}`)
    expect(await get(id)).toMatchObject({ state: 'running', closing: { reason: 'cancelled', by: 'ann@box' } })
  })

  test('what a dead worker had taken ends, and a living worker is waited for', async () => {
    const { add, world, get, claim, sim, launch } = await workLab()
    const dead = (await add()).id
    await claim(dead)
    expect(await cancelRequest(world, dead)).toMatchObject({ kind: 'cancelled' })
    const worker = sim.add({ pid: 500 })
    const slow = (await add()).id
    await claim(slow, worker)
    expect(await cancelRequest(world, slow)).toMatchObject({ kind: 'ending', request: { state: 'claimed' } })
    expect((await get(slow)).closing).not.toBeNull()
    const starting = (await add()).id
    await claim(starting, worker)
    let begun: Promise<unknown> | null = null
    sim.after(100, () => {
      begun = launch(starting)
    })
    // The agent that the worker starts meanwhile is ended, too.
    expect(await cancelRequest(world, starting)).toMatchObject({ kind: 'cancelled' })
    await begun
    expect(await sim.store.sessions.find(`work-${starting}`, 'exact')).toMatchObject({ view: { run: { state: 'stopped' } } })
  })

  verifies('final', 'what is over stays as it is, whoever comes', async () => {
    const { add, world, end, get } = await workLab()
    const { id } = await add()
    await end(id)
    const before = await get(id)
    for (const door of [cancelRequest(world, id), finishRequest(world, { request: id, summary: 's' }), addFeedback(world, id, 'late')])
      expect(await refusal(door)).toMatchObject({ id: 'request-over', message: expect.stringContaining('blocked (no-result)') })
    expect(await get(id)).toEqual(before)
    expect(await seeFeedback(world, id)).toEqual([])
  })
})

describe('finish', () => {
  verifies('named', 'an agent needs no name for its own request, and is proven to be in its session', async () => {
    const { add, world, run, get } = await workLab()
    const { id } = await add()
    const { inside } = await run(id)
    expect(await finishRequest(inside, { summary: ' it works ' })).toMatchObject({ kind: 'reported' })
    expect(await get(id)).toMatchObject({ state: 'running', result: { kind: 'reported', text: 'it works', by: `work-${id}` } })
    expect(await refusal(finishRequest(world, { summary: 's' }))).toMatchObject({ id: 'caller-outside-session' })
    expect(await refusal(finishRequest(inside, {}))).toMatchObject({ id: 'option-missing' })
  })

  test('an agent that is faster than its worker may report, too', async () => {
    const { add, claim, launch, insideOf, get } = await workLab()
    const { id } = await add()
    await claim(id)
    const { run, harness } = await launch(id)
    await finishRequest(insideOf(run.marker, harness), { summary: 'done' })
    expect(await get(id)).toMatchObject({ state: 'claimed', result: { text: 'done' } })
  })

  verifies('epoch', 'a late report changes nothing, and is told so', async () => {
    const { add, run, requests, claim, get, sim, world } = await workLab()
    const { id } = await add()
    const { holds, inside } = await run(id)
    await requests.recordReleased(holds, { why: 'it ended', dueAt: null, counts: true }, sim.clock.now())
    await claim(id)
    expect(await refusal(finishRequest(inside, { request: id, summary: 'late' }))).toMatchObject({ id: 'request-claim-late' })
    expect(await refusal(finishRequest(world, { request: id, summary: 'late', token: holds.token }))).toMatchObject({ id: 'request-claim-late' })
    expect((await get(id)).result).toBeNull()
  })

  test('a person accepts a result that waits for review', async () => {
    const { add, run, requests, get, sim, world } = await workLab()
    const { id } = await add({ review: true })
    const { holds } = await run(id)
    await requests.recordPaused(holds, { cause: 'review', summary: 'look at it', dueAt: null }, sim.clock.now())
    expect(await finishRequest(world, { request: id, summary: 'good' })).toMatchObject({ kind: 'accepted' })
    expect(await get(id)).toMatchObject({ state: 'done', reason: 'accepted', summary: expect.stringContaining('accepted by ann@box: good') })
  })

  test('a request on which no agent works has no result', async () => {
    const { add, world } = await workLab()
    const { id } = await add()
    const second = await add({ after: [id] })
    for (const request of [id, second.id])
      expect(await refusal(finishRequest(world, { request, summary: 's' }))).toMatchObject({ id: 'request-not-running' })
  })
})

describe('rerun and retry', () => {
  test('a rerun begins anew, and a retry goes on in the same conversation and branch', async () => {
    const { add, world, end, get } = await workLab()
    const { id } = await add({ labels: { a: 'b' }, priority: 2 })
    expect(await refusal(rerunRequest(world, id))).toMatchObject({ id: 'request-open' })
    await end(id)
    const again = (await rerunRequest(world, id)).request
    expect(again).toMatchObject({
      state: 'queued',
      session: `work-${again.id}`,
      order: { labels: { a: 'b' }, priority: 2, from: { request: id, how: 'rerun' } },
    })
    const on = (await retryRequest(world, id)).request
    expect(on).toMatchObject({ session: `work-${id}`, branch: `holdfast/${id}`, order: { from: { request: id, how: 'retry' } } })
    // Two that are open never have one session.
    expect(await refusal(retryRequest(world, id))).toMatchObject({ id: 'request-open', message: expect.stringContaining(on.id) })
    expect((await get(id)).state).toBe('blocked')
  })

  test('one that is paused until its limit ends, or until it is tried again, is tried at once', async () => {
    const { add, world, requests, run, get, sim } = await workLab()
    const [limited, released] = [(await add()).id, (await add()).id]
    const { holds } = await run(limited)
    await requests.recordPaused(holds, { cause: 'limit', summary: 'limited', dueAt: null }, sim.clock.now())
    expect((await retryRequest(world, limited)).request).toMatchObject({ state: 'queued', cause: null })
    await requests.recordTrouble({ id: released, token: 0 }, { step: 'start', why: 'w', times: 1, at: 1 }, sim.clock.now() + 60_000, sim.clock.now())
    expect((await retryRequest(world, released)).request).toMatchObject({ state: 'queued', dueAt: null, trouble: null })
    expect(await refusal(retryRequest(world, released))).toMatchObject({ id: 'request-open' })
    expect((await get(limited)).attempt).toBe(1)
  })
})

describe('feedback', () => {
  test('feedback that may not have arrived is sent once more, and nothing else is', async () => {
    const { add, world, run, sim } = await workLab()
    const { id } = await add()
    const { holds } = await run(id)
    const said = await addFeedback(world, id, ' rename it ')
    expect(said).toMatchObject({ state: 'pending', text: 'rename it', by: 'ann@box' })
    expect(await refusal(retryFeedback(world, said.id))).toMatchObject({ id: 'feedback-not-undelivered' })
    await sim.store.feedback.begin(holds, RECEIPT, 9)
    await sim.store.feedback.record(said.id, 'lost', RECEIPT, 9)
    expect(await retryFeedback(world, said.id)).toMatchObject({ state: 'pending' })
    expect(await refusal(retryFeedback(world, 'fnone'))).toMatchObject({ id: 'feedback-unknown' })
  })

  test('an empty text is no feedback', async () => {
    const { add, world } = await workLab()
    const { id } = await add()
    expect(await refusal(addFeedback(world, id, ' \n'))).toMatchObject({ id: 'text-empty' })
    expect(await seeFeedback(world, null)).toEqual([])
  })
})

describe('explain', () => {
  test('a request that is queued, and then at work', async () => {
    const { add, world, run } = await workLab()
    const { id } = await add()
    const broken = { ...world, workflows: { ...world.workflows, read: async () => ({ kind: 'unknown', why: 'git is slow' }) as const } }
    expect(await explainRequest(broken, id)).toMatchObject({ id, state: 'queued', next: { command: expect.stringContaining('holdfast work check') } })
    expect(await explainRequest(world, id)).toMatchObject({ next: { command: 'holdfast daemon start' } })
    await run(id)
    expect(await explainRequest(world, id)).toMatchObject({
      state: 'running',
      because: ['its agent is at work'],
      next: { command: `holdfast logs work-${id}` },
    })
  })
})

describe('watch', () => {
  test('each step is told once, the last one too, and then it is over', async () => {
    const { add, world, run, sim } = await workLab()
    const { id } = await add()
    await run(id)
    let ending: Promise<unknown> | null = null
    sim.after(1_000, () => {
      ending = cancelRequest(world, id)
    })
    const kinds: string[] = []
    for await (const { kind } of watchRequest(world, id)) kinds.push(kind)
    await ending
    expect(kinds).toEqual(['added', 'claimed', 'started', 'closing', 'cancelled'])
  })

  test('one who has heard enough hears no more', async () => {
    const { add, world } = await workLab()
    const { id } = await add()
    const enough = new AbortController()
    const kinds: string[] = []
    for await (const { kind } of watchRequest(world, id, enough.signal)) {
      kinds.push(kind)
      enough.abort()
    }
    expect(kinds).toEqual(['added'])
  })
})

verifies('named', 'an agent is told its own request, and one that has none is refused', async () => {
  const { add, world, run } = await workLab()
  const { id } = await add()
  const { inside } = await run(id)
  expect(await ownRequest(inside)).toBe(id)
  expect(await refusal(ownRequest(world))).toMatchObject({ id: 'caller-outside-session' })
})
