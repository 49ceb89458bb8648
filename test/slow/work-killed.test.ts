import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inLab, type Lab, readOr, TEST_COMMAND, until } from '../real/lab.ts'
import { type WorkRequestJson, workLab } from '../real/work-lab.ts'
import { verifies } from '../requirements.ts'

type Story = WorkRequestJson & { readonly story: readonly { readonly kind: string; readonly detail: unknown }[] }
type Work = ReturnType<typeof workLab>

/** A killed claim is released with a pause of seconds, and a busy machine needs ten times as long as a quiet one. */
const OVER_MS = 180_000
const MOMENTS = ['before', 'after'] as const

/** Every durable step between the queue and the end of a request whose branch is pushed, in their order. */
const STEPS = [
  'store.requests.claim',
  'worktrees.add',
  'store.requests.recordPlaced',
  'store.claims.claim',
  'keepers.spawn',
  'store.requests.recordStarted',
  'branches.push',
  'store.requests.recordResult',
  'worktrees.remove',
  'store.requests.recordEnded',
]

const isOver = ({ state }: { readonly state: string }): boolean => ['done', 'blocked', 'cancelled'].includes(state)

/** Passes of a worker until one is killed there. A request that is over before that was never at this step. */
async function passUntilKilled(lab: Lab, work: Work, id: string, point: string): Promise<void> {
  const options = { env: { ...work.env, HOLDFAST_FAILPOINTS: `${point}=kill` }, cwd: work.repo, command: TEST_COMMAND }
  await until(
    `a worker to be killed ${point}`,
    async () => {
      const { code, stderr } = await lab.hf(['worker', 'run', '--once'], options)
      if (code === null) return true
      expect([code, isOver(await work.show(id))], `${point}: ${stderr}`).toEqual([0, false])
      return false
    },
    OVER_MS,
  )
}

const passUntil = (work: Work, id: string, what: string, is: (request: WorkRequestJson) => boolean): Promise<WorkRequestJson> =>
  until(
    `request ${id} ${what}`,
    async () => {
      await work.pass()
      const request = await work.show(id)
      return is(request) ? request : null
    },
    OVER_MS,
  )

/** How often an agent got a prompt with this order. */
const startsWith = (lab: Lab, order: string): number =>
  readOr(join(lab.agentDir, 'prompts'))
    .split('-- end of prompt --')
    .filter((prompt) => prompt.includes(order)).length

/** One end in its story, its agent and its worktree gone, and another pass changes nothing. */
async function expectOneEnd(lab: Lab, work: Work, id: string, point: string): Promise<void> {
  const before = await work.json<Story>('work', 'show', id)
  expect(await work.pass(), point).toBe('')
  const after = await work.json<Story>('work', 'show', id)
  expect(after, point).toEqual(before)
  expect(
    after.story.filter(({ kind }) => isOver({ state: kind })),
    `${point}: ${JSON.stringify(after.story)}`,
  ).toHaveLength(1)
  expect((await lab.status(after.session)).state, point).toBe('completed')
  expect(existsSync(String(after.dir)), point).toBe(false)
  expect(work.git('worktree', 'list').split('\n'), point).toHaveLength(1)
}

// They wait for the pauses of requests most of the time.
describe.concurrent('a worker that is killed', () => {
  for (const moment of MOMENTS)
    verifies('one-end', `${moment} any durable step leaves a request that the next passes bring to its one end, with its work`, () =>
      inLab(async (lab) => {
        const work = workLab(lab, 'publish = "branch"')
        work.behave('work')
        const remote = join(lab.agentDir, 'remote.git')
        work.git('init', '--quiet', '--bare', remote)
        work.git('remote', 'add', 'origin', remote)
        // A claim that was never carried out is given back: the worker that does so is killed as well.
        const kills = [...STEPS.map((step) => [`${moment}:${step}`]), ['after:store.requests.claim', `${moment}:store.requests.recordReleased`]]
        for (const points of kills) {
          const told = points.join(', ')
          const order = `write a file ${told}.`
          const id = await work.add(order)
          for (const point of points) await passUntilKilled(lab, work, id, point)
          const { state, reason, summary, attempt } = await passUntil(work, id, `to be over, after a kill ${told}`, isOver)
          expect([state, reason], `${told}: ${summary}`).toEqual(['done', 'commits'])
          expect(summary, told).toMatch(/^1 commit on holdfast\/w\w+; published to origin$/)
          // A claim that started nothing uses an attempt up as well.
          expect(attempt, told).toBeLessThanOrEqual(2)
          expect(work.git('--git-dir', remote, 'log', '--format=%s', `holdfast/${id}`), told).toBe('work\nfirst')
          expect(startsWith(lab, order), told).toBe(1)
          await expectOneEnd(lab, work, id, told)
        }
      }),
    )

  test('around a review and its feedback delivers the feedback once, and the request waits and ends as it would have', () =>
    inLab(async (lab) => {
      const work = workLab(lab, 'review = true')
      work.behave('report')
      const waits = ({ state, cause }: WorkRequestJson): boolean => (state === 'waiting' && cause === 'review') || isOver({ state })
      for (const moment of MOMENTS) {
        const order = `write a report, ${moment}`
        const id = await work.add(order)
        await passUntilKilled(lab, work, id, `${moment}:store.requests.recordPaused`)
        const first = await passUntil(work, id, 'to wait for a review', waits)
        expect([first.state, first.cause], moment).toEqual(['waiting', 'review'])
        const words = `shorter, ${moment}`
        await lab.ok(['feedback', 'add', id, words], { env: work.env })
        await passUntilKilled(lab, work, id, `${moment}:store.feedback.begin`)
        const second = await passUntil(work, id, 'to wait for another review', (now) => isOver(now) || (waits(now) && now.run !== first.run))
        expect([second.state, second.cause], moment).toEqual(['waiting', 'review'])
        expect(second.feedback.map(({ state, text }) => [state, text])).toEqual([['delivered', words]])
        expect([startsWith(lab, order), startsWith(lab, words)], moment).toEqual([2, 1])
        await lab.ok(['work', 'finish', id], { env: work.env })
        const { state, reason } = await passUntil(work, id, 'to be over', isOver)
        expect([state, reason], moment).toEqual(['done', 'accepted'])
        await expectOneEnd(lab, work, id, moment)
      }
    }))
})
