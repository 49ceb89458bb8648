import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { gone, inLab, isAlive, readOr, until } from './lab.ts'
import { workLab } from './work-lab.ts'

const isOver = ({ state }: { readonly state: string }): boolean => ['done', 'blocked', 'cancelled'].includes(state)
const LONG = 240_000

describe('a request', () => {
  test(
    'that is worked on ends as done, with its commits on a branch, pushed where that is wanted, and without its worktree',
    () =>
      inLab(async (lab) => {
        const work = workLab(lab, 'publish = "branch"')
        work.behave('work')
        const remote = join(lab.agentDir, 'remote.git')
        work.git('init', '--quiet', '--bare', remote)
        work.git('remote', 'add', 'origin', remote)
        const id = await work.add('write a file called work')
        const done = await work.passUntil(id, 'to be over', isOver)
        expect([done.state, done.reason, done.attempt]).toEqual(['done', 'commits', 1])
        expect(done.summary).toMatch(/^1 commit on holdfast\/w\w+; published to origin$/)
        expect(work.git('--git-dir', remote, 'log', '-1', '--format=%s', `holdfast/${id}`)).toBe('work')
        expect(readFileSync(join(lab.agentDir, 'prompts'), 'utf8')).toContain('write a file called work')
        expect(existsSync(String(done.dir))).toBe(false)
        // Terminal is final: another pass changes nothing.
        expect(await work.pass()).toBe('')
      }),
    LONG,
  )

  test(
    'without a result tells its exit, its last words without secrets, what is left, and what to type',
    () =>
      inLab(async (lab) => {
        const work = workLab(lab)
        work.behave('none')
        const none = await work.passUntil(await work.add('do it'), 'to be over', isOver)
        expect([none.state, none.reason]).toEqual(['blocked', 'no-result'])
        expect(none.summary).toMatch(
          /the agent ended without a result \(exit code 0\); nothing was changed on holdfast\/\w+; its last words: I could not do it\./,
        )
        expect(none.summary).toContain(`holdfast work retry ${none.id}`)
        expect(none.summary).not.toContain('hunter2222')
        work.behave('dirty')
        const dirty = await work.passUntil(await work.add('do it'), 'to be over', isOver)
        expect([dirty.state, dirty.reason]).toEqual(['blocked', 'no-result'])
        expect(dirty.summary).toMatch(/\(exit code 3\); uncommitted in .*: half; its last words: I stopped in the middle\./)
        expect(existsSync(join(String(dirty.dir), 'half'))).toBe(true)
      }),
    LONG,
  )

  test(
    'whose agent came to its usage limit waits until that has passed',
    () =>
      inLab(async (lab) => {
        const work = workLab(lab)
        work.behave('limit')
        const id = await work.add('do it')
        const limited = await work.passUntil(id, 'to wait', ({ state }) => state === 'waiting' || isOver({ state }))
        expect([limited.state, limited.cause]).toEqual(['waiting', 'limit'])
        expect(limited.summary).toMatch(/usage limit until \d{4}-/)
        // Another request for the same agent does not run into the same limit.
        const other = await work.add('do that')
        await work.pass()
        expect((await work.show(other)).state).toBe('queued')
      }),
    LONG,
  )

  verifies(
    'one-end',
    'that is cancelled while its agent runs a server ends with nothing running, and no later pass brings it back',
    () =>
      inLab(async (lab) => {
        const work = workLab(lab)
        work.behave('server')
        const id = await work.add('start a server')
        await work.pass()
        await until('the server to listen', () => readOr(join(lab.agentDir, 'port')))
        const { run, session } = await work.show(id)
        expect(run).not.toBeNull()
        const { pid } = await lab.status(session)
        await lab.hf(['feedback', 'add', id, 'make it faster'], { env: work.env })
        await lab.ok(['work', 'cancel', id], { env: work.env })
        const over = await work.passUntil(id, 'to be over', isOver)
        expect([over.state, over.reason]).toEqual(['cancelled', 'cancelled'])
        expect(over.feedback.map(({ state }) => state)).toEqual(['ignored'])
        expect(isAlive(Number(pid))).toBe(false)
        await work.pass()
        expect((await work.show(id)).state).toBe('cancelled')
      }),
    LONG,
  )

  test(
    'gets its feedback with the prompt of the next run, in the same worktree, until it is accepted',
    () =>
      inLab(async (lab) => {
        const work = workLab(lab, 'review = true')
        work.behave('report')
        const id = await work.add('write a report')
        const first = await work.passUntil(id, 'to wait for a review', ({ state }) => state === 'waiting' || isOver({ state }))
        expect([first.state, first.cause]).toEqual(['waiting', 'review'])
        await lab.ok(['feedback', 'add', id, 'write it again, shorter'], { env: work.env })
        const second = await work.passUntil(id, 'to wait for another review', ({ cause, run }) => cause === 'review' && run !== first.run)
        expect(second.feedback.map(({ state, text }) => [state, text])).toEqual([['delivered', 'write it again, shorter']])
        expect(second.dir).toBe(first.dir)
        expect(readFileSync(join(lab.agentDir, 'prompts'), 'utf8')).toContain('write it again, shorter')
        await lab.ok(['work', 'finish', id], { env: work.env })
        const done = await work.passUntil(id, 'to be over', isOver)
        expect([done.state, done.reason]).toEqual(['done', 'accepted'])
      }),
    LONG,
  )
})

describe('a worker', () => {
  test(
    'that is killed leaves its agents at work; the next one goes on with the same run',
    () =>
      inLab(async (lab) => {
        const work = workLab(lab)
        work.behave('idle')
        const worker = lab.start(['worker', 'run'], { env: work.env, cwd: work.repo })
        const id = await work.add('do it')
        const running = await until('the request to run', async () => {
          const request = await work.show(id)
          return request.state === 'running' ? request : null
        })
        worker.kill('SIGKILL')
        await gone(worker.pid ?? 0)
        await work.pass()
        const still = await work.show(id)
        expect([still.state, still.run, still.attempt]).toEqual(['running', running.run, 1])
        expect((await lab.status(still.session)).state).toBe('running')
        await lab.ok(['stop', still.session])
        const over = await work.passUntil(id, 'to be over', isOver)
        expect([over.state, over.reason]).toEqual(['blocked', 'stopped'])
      }),
    LONG,
  )

  test(
    'ends with Ctrl-C and says so, and its agent lives on',
    () =>
      inLab(async (lab) => {
        const work = workLab(lab)
        work.behave('idle')
        const id = await work.add('do it')
        const worker = lab.start(['worker', 'run'], { env: work.env, cwd: work.repo })
        let said = ''
        worker.stderr?.on('data', (chunk: Buffer) => {
          said += chunk.toString()
        })
        await until('the worker to tell of it', () => said.includes(`${id} runs in session`))
        worker.kill('SIGINT')
        await gone(worker.pid ?? 0)
        expect(said).toContain('worker: ended')
        expect((await lab.status((await work.show(id)).session)).state).toBe('running')
      }),
    LONG,
  )

  test(
    'starts nothing where the agent is missing, and says what to do',
    () =>
      inLab(async (lab) => {
        const work = workLab(lab)
        work.behave('work')
        const id = await work.add('do it')
        writeFileSync(join(work.bin, 'stand-in'), '#!/nowhere/interpreter\n')
        const over = await work.passUntil(id, 'to be over', isOver)
        expect([over.state, over.reason]).toEqual(['blocked', 'start-refused'])
        expect(over.summary).toContain(`holdfast work retry ${id}`)
      }),
    LONG,
  )
})
