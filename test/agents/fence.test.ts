import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
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
  'with our hooks a retired agent that still lives can call no tool, and taken out again they leave no trace',
  async (lab) => {
    const untouched = contentOf(lab.userHome)
    await lab.ok(['hooks', 'install', lab.launch.name])
    expect(contentOf(lab.userHome)).not.toEqual(untouched)
    await lab.ok(['hooks', 'uninstall', lab.launch.name])
    expect(contentOf(lab.userHome)).toEqual(untouched)
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
  },
  // Every Code has no hooks.
  { of: ({ name }) => name !== 'code' },
)

/** As if its end had been asked for and it were too busy to die; only then the model goes on. */
async function retire(lab: AgentLab): Promise<void> {
  const { run } = await lab.status('s')
  writeFileSync(join(lab.home, 'runs', run, 'retired'), 'stopped\n')
  lab.model.open('retired')
}

/** Every file below a folder, with what is in it. */
const contentOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, readFileSync(path, 'latin1')]),
  )
