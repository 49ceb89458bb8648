import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inLab, readOr, until } from './lab.ts'
import { workLab } from './work-lab.ts'

const isOver = ({ state }: { readonly state: string }): boolean => ['done', 'blocked', 'cancelled'].includes(state)
const LONG = 240_000

describe('WORKFLOW.md', () => {
  test(
    'counts only with the content that a person allowed; then its hooks run and its template is the prompt',
    () =>
      inLab(async (lab) => {
        const work = workLab(lab)
        work.behave('work')
        const write = (text: string): void => {
          writeFileSync(join(work.repo, 'WORKFLOW.md'), text)
          work.git('add', '.')
          work.git('commit', '--quiet', '-m', 'workflow')
        }
        write('---\nhooks:\n  after_create: echo hooked > "$FA_DIR/hooked"\nserver:\n  port: 1\n---\nDo {{ issue.title }} now.\n')
        const id = await work.add('write it')
        await work.pass()
        expect((await work.show(id)).state).toBe('queued')
        const checked = await lab.ok(['work', 'check'], { cwd: work.repo, env: work.env })
        expect(checked).toMatch(/would run the hook after_create: echo hooked/)
        expect(checked).toMatch(/does not use server\.port/)
        expect(checked).toMatch(/no request of this repository begins: .*not allowed yet/)
        await lab.ok(['work', 'trust'], { cwd: work.repo, env: work.env })
        const done = await work.passUntil(id, 'to be over', isOver)
        expect([done.state, done.reason]).toEqual(['done', 'commits'])
        expect(readOr(join(lab.agentDir, 'hooked'))).toBe('hooked\n')
        expect(readFileSync(join(lab.agentDir, 'prompts'), 'utf8')).toContain('Do write it now.')

        write('Do {{ issue.titel }} now.\n')
        const next = await work.add('write more')
        await work.pass()
        expect((await work.show(next)).state).toBe('queued')
        expect(await lab.refused(['work', 'trust'], { cwd: work.repo, env: work.env })).toMatchObject({ id: 'workflow-broken' })
      }),
    LONG,
  )

  test(
    'with a hook that fails holds its request back, and names the log',
    () =>
      inLab(async (lab) => {
        const work = workLab(lab)
        work.behave('work')
        writeFileSync(join(work.repo, 'WORKFLOW.md'), '---\nhooks:\n  before_run: exit 7\n---\nDo it.\n')
        work.git('add', '.')
        work.git('commit', '--quiet', '-m', 'workflow')
        await lab.ok(['work', 'trust', work.repo], { env: work.env })
        const id = await work.add('write it')
        await work.pass()
        const once = await work.show(id)
        expect([once.state, once.run]).toEqual(['queued', null])
        expect(once.summary).toMatch(/the hook before-run of .* failed: exit code 7; look: holdfast logs work-\w+\.before-run/)
      }),
    LONG,
  )

  test(
    'with settings in config.toml that make no sense starts nothing, and tells so once',
    () =>
      inLab(async (lab) => {
        const work = workLab(lab)
        work.behave('work', 'at_once = 0')
        const { code, stderr } = await lab.hf(['worker', 'run', '--once'], { env: work.env, cwd: work.repo })
        expect(code).toBe(64)
        expect(stderr.match(/work\.at_once is a number from 1 to 1000/g)).toHaveLength(1)
        expect(stderr).toContain('correct config.toml')
      }),
    LONG,
  )

  test(
    'in the daemon: a request is worked on without anybody who asks',
    () =>
      inLab(async (lab) => {
        const work = workLab(lab)
        work.behave('work')
        await lab.ok(['daemon', 'start'], { env: work.env })
        const id = await work.add('write it')
        const done = await until('the request to be over', async () => {
          const request = await work.show(id)
          return isOver(request) ? request : null
        })
        expect([done.state, done.reason]).toEqual(['done', 'commits'])
        await lab.ok(['daemon', 'stop'], { env: work.env })
      }),
    LONG,
  )
})
