import { writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { readOr, until } from '../real/lab.ts'
import { AGENT_MS, scenario } from './lab.ts'

type Task = {
  readonly session: string
  readonly state: string
  readonly usage: { readonly tokens: { readonly total: number } | null }
  readonly nested?: { readonly nativeId: string | null }
}

scenario(
  'another agent that it starts is a task of its session with tokens of its own, also after both have ended',
  async (lab) => {
    const [file, script] = [lab.file('worked'), lab.file('script')]
    const words = [lab.path, ...lab.launch.fresh(`inner [[run: echo yes >${file}]] [[hang]]`)].map((word) => `'${word}'`)
    writeFileSync(script, `${words.join(' ')} </dev/null >/dev/null 2>&1\n`)
    await lab.run('outer', `outer [[run: sh ${script}]] [[say: done]]`)
    await until('the inner one to work', () => readOr(file), AGENT_MS)
    const tasksOf = async (): Promise<readonly Task[]> => ((await lab.status('outer')) as unknown as { tasks: Task[] }).tasks
    const task = await until('its tokens', async () => (await tasksOf()).find(({ usage }) => (usage.tokens?.total ?? 0) > 0), AGENT_MS)
    expect(task).toMatchObject({ state: 'running', nested: { harness: lab.launch.name } })
    expect(task.nested?.nativeId).not.toBeNull()
    expect(await tasksOf()).toHaveLength(1)
    const total = task.usage.tokens?.total ?? 0
    // Each had one answer of the same size. This one writes down what a step has burned when it is over.
    const own = lab.launch.name === 'opencode' ? 0 : total
    expect((await lab.status('outer')).usage.tokens).toMatchObject({ total: own })
    await lab.ok(['stop', 'outer'])
    expect(await tasksOf()).toMatchObject([{ session: task.session, state: 'superseded', usage: { tokens: { total } } }])
    expect((await lab.status('outer')).usage.tokens).toMatchObject({ total: own })
  },
  // Code keeps the key of the model from its tools.
  { of: ({ name }) => ['claude', 'codex', 'opencode'].includes(name) },
)
