import { expect } from 'vitest'
import { readOr } from '../real/lab.ts'
import { scenario } from './lab.ts'
import { STRANGERS } from './strangers.ts'

scenario("its tools get no other agent's names, the user's settings, and the right PWD", async (lab) => {
  const file = lab.file('environ')
  // No name with KEY, SECRET or TOKEN: codex takes those from its tools by itself.
  const around = { ...STRANGERS, PWD: '/somewhere/else', OPENAI_ORGANIZATION: 'kept', GROK_HOME: '/kept', COPILOT_HOME: '/kept' }
  await lab.begin('s', `alpha [[run: env -0 >${file}]] [[say: done]]`, { env: around, cwd: lab.newDir() })
  expect((await lab.hf(['wait', 's', '--timeout', '60s'])).code).toBe(0)

  const child = Object.fromEntries(
    readOr(file)
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
  expect(Object.entries(child).filter(([, value]) => value.startsWith('stranger of'))).toEqual([])
  expect(child).toMatchObject({
    PWD: lab.dir,
    HOLDFAST_SESSION: 's',
    OPENAI_ORGANIZATION: 'kept',
    GROK_HOME: '/kept',
    COPILOT_HOME: '/kept',
  })
})
