import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { until } from '../real/lab.ts'
import { AGENT_MS, type AgentLab, scenario } from './lab.ts'

scenario('without hooks a retired agent that still lives calls its next tool', async (lab) => {
  const two = lab.file('two')
  await lab.begin('s', `alpha [[run: true]] [[gate: retired]] [[run: echo >${two}]] [[hang]]`)
  await lab.asked('alpha', 1)
  await retire(lab)
  await lab.asked('alpha', 2)
  expect(existsSync(two)).toBe(true)
})

scenario(
  'with our hooks a retired agent that still lives can call no tool, and without them nothing of ours is left in its settings',
  async (lab) => {
    const before = Object.keys(lab.launch.files(0, '')).map((file) => readFileSync(join(lab.userHome, file), 'utf8'))
    await lab.ok(['hooks', 'install', lab.launch.name])
    const [one, two] = [lab.file('one'), lab.file('two')]
    const script = `alpha [[run: echo >${one}]] [[gate: retired]] [[run: echo >${two}]] [[hang]]`
    await lab.run('s', script, [], lab.launch.hooked)
    // The hook lets a live owner work.
    await until('the first tool call', () => existsSync(one), AGENT_MS)
    await lab.asked('alpha', 1)
    await retire(lab)
    await Promise.race([lab.asked('alpha', 2), lab.hf(['wait', 's', '--timeout', '60s'])])
    expect(existsSync(two)).toBe(false)
    await lab.hf(['stop', 's'])
    expect(existsSync(two)).toBe(false)

    await lab.ok(['hooks', 'uninstall', lab.launch.name])
    expect(Object.keys(lab.launch.files(0, '')).map((file) => readFileSync(join(lab.userHome, file), 'utf8'))).toEqual(before)
  },
  { todo: true },
)

/** As if its end had been asked for and it were too busy to die; only then the model goes on. */
async function retire(lab: AgentLab): Promise<void> {
  const { run } = await lab.status('s')
  writeFileSync(join(lab.home, 'runs', run, 'retired'), 'stopped\n')
  lab.model.open('retired')
}
