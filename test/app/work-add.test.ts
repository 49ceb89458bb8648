import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { addRequest, seeRequest, seeWork } from '../../src/app/index.ts'
import type { HeadLook, ProblemId } from '../../src/model/index.ts'
import { policy } from '../../src/model/index.ts'
import { starting } from '../sim/starting.ts'
import { refusal } from './work-lab.ts'

/** A repository with a commit, and claude on PATH. */
async function lab(head: HeadLook = { kind: 'seen', commit: 'abc' }) {
  const made = await starting()
  made.program('claude')
  const world = { ...made.world, worktrees: { ...made.world.worktrees, head: async () => head }, user: () => 'ann', host: 'box' }
  const add = (more: Partial<Parameters<typeof addRequest>[1]> = {}) => addRequest(world, { text: 'fix it', repo: made.repository, ...more })
  return { ...made, world, add }
}

describe('work add', () => {
  test('a request has the repository, the first installed agent, and its first line as a title', async () => {
    const { add, repository } = await lab()
    const { request, column } = await add({ text: '\n# Fix the login\n\nIt is broken.\n' })
    expect(column).toBe('queued')
    expect(request).toMatchObject({
      state: 'queued',
      session: `work-${request.id}`,
      branch: `holdfast/${request.id}`,
      order: {
        title: 'Fix the login',
        text: '# Fix the login\n\nIt is broken.',
        repo: repository,
        harness: 'claude',
        publish: 'none',
        by: 'ann@box',
      },
    })
    expect(request.id).toMatch(/^w[\da-f]{12}$/)
  })

  test('a long first line is cut, and an empty title is no title', async () => {
    const { add } = await lab()
    expect((await add({ text: 'x'.repeat(500), title: ' ' })).request.order.title).toBe(`${'x'.repeat(policy.titleChars - 1)}…`)
  })

  test('a request after others waits for those that are not done', async () => {
    const { add } = await lab()
    const first = await add()
    const second = await add({ after: [first.request.id.slice(0, 6), first.request.id] })
    expect(second.request).toMatchObject({ state: 'waiting', cause: 'dependency', summary: `it comes after ${first.request.id}` })
    expect(second.request.order.after).toEqual([first.request.id])
  })

  test('each wrong input is refused with its own reason, and nothing is added', async () => {
    const { add, world, dir, sim, repository } = await lab()
    const over = await add()
    const holds = { id: over.request.id, token: 0 }
    await sim.store.requests.recordEnded(holds, { state: 'cancelled', reason: 'cancelled', summary: 's', by: 'ann@box' }, 5)
    const cases: readonly (readonly [Promise<unknown>, ProblemId])[] = [
      [add({ text: ' \n ' }), 'text-empty'],
      [add({ text: 'x'.repeat(policy.requestChars + 1) }), 'text-too-long'],
      [add({ text: 'a\0b' }), 'prompt-not-text'],
      [add({ repo: dir }), 'repository-missing'],
      [add({ repo: join(dir, 'none') }), 'directory-missing'],
      [add({ repo: '' }), 'option-value-missing'],
      [add({ harness: 'nobody' }), 'agent-unknown'],
      [add({ harness: 'generic' }), 'agent-unknown'],
      [add({ harness: 'codex' }), 'agent-not-installed'],
      [add({ after: ['wnothing'] }), 'request-unknown'],
      [add({ after: [over.request.id] }), 'request-over'],
    ]
    for (const [work, id] of cases) expect((await refusal(work)).id).toBe(id)
    const unborn = { ...world, worktrees: { ...world.worktrees, head: async (): Promise<HeadLook> => ({ kind: 'seen', commit: null }) } }
    expect((await refusal(addRequest(unborn, { text: 'x', repo: repository }))).id).toBe('repository-unborn')
    expect(await sim.store.requests.list('all', 10)).toHaveLength(1)
  })

  test('which of several installed agents is meant is for a person to say', async () => {
    const { add, program } = await lab()
    program('codex')
    expect(await refusal(add())).toMatchObject({ id: 'option-missing', message: expect.stringContaining('claude, codex') })
    expect((await add({ harness: 'codex' })).request.order.harness).toBe('codex')
  })

  test('a failed look at the repository is no proof that it has no commit', async () => {
    const { add } = await lab({ kind: 'unknown', why: 'git took longer than 15 s' })
    expect(await refusal(add())).toMatchObject({ id: 'repository-unproven', message: expect.stringContaining('git took longer than 15 s') })
  })

  test('a bare repository has no working tree', async () => {
    const { add, dir } = await lab()
    for (const name of ['HEAD', 'objects', 'refs']) mkdirSync(join(dir, 'bare', name), { recursive: true })
    expect((await refusal(add({ repo: join(dir, 'bare') }))).id).toBe('repository-missing')
  })
})

describe('the board', () => {
  test('what needs a person comes first, and what ended long ago is counted', async () => {
    const { add, world, sim } = await lab()
    const [queued, blocked, old] = [await add({ text: 'queued' }), await add({ text: 'blocked' }), await add({ text: 'old' })].map(
      ({ request }) => request.id,
    )
    const now = sim.clock.now()
    await sim.store.requests.recordEnded({ id: blocked ?? '', token: 0 }, { state: 'blocked', reason: 'no-result', summary: 's', by: 'agent' }, 5)
    await sim.store.requests.recordEnded(
      { id: old ?? '', token: 0 },
      { state: 'cancelled', reason: 'cancelled', summary: 's', by: 'a' },
      now - policy.workShownMs - 1,
    )
    const board = await seeWork(world, 'shown')
    expect(board.views.map(({ request, column }) => [request.id, column])).toEqual([
      [blocked, 'needs-you'],
      [queued, 'queued'],
    ])
    expect(board.left).toBe(1)
    expect((await seeWork(world, 'all')).views).toHaveLength(3)
  })

  test('a request is found by the beginning of its id, if that is enough', async () => {
    const { add, world } = await lab()
    const { request } = await add()
    expect((await seeRequest(world, request.id.slice(0, 4))).request.id).toBe(request.id)
    expect((await refusal(seeRequest(world, request.id.slice(0, 3)))).id).toBe('request-unknown')
    expect((await seeRequest(world, request.id)).story.map(({ kind }) => kind)).toEqual(['added'])
  })
})
