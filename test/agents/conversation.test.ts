import { expect } from 'vitest'
import { readOr, until } from '../real/lab.ts'
import { AGENT_MS, promptIn, scenario } from './lab.ts'

/** Until `holdfast run HARNESS` knows its agents. */

scenario('its native id is known within seconds; a takeover and a resume, by name or by that id, go on with the same conversation', async (lab) => {
  await lab.run('s', `alpha [[run: echo one >${lab.file('one')}]] [[hang]]`)
  await lab.asked('alpha', 1)
  const nativeId = await until('its native id', async () => (await lab.status('s')).nativeId, AGENT_MS)
  expect(await lab.status('s')).toMatchObject({ harness: lab.launch.name, state: 'running' })
  const held = await lab.hf(['resume', nativeId, '--detach', '--prompt-file', promptIn(lab.file('no'), 'no [[say: no]]')])
  expect(held.code, held.stderr).toBe(75)

  for (const [reference, word, ...how] of [
    ['s', 'beta', '--takeover'],
    ['s', 'gamma'],
    [nativeId, 'delta'],
  ] as const) {
    const file = lab.file(word)
    await lab.ok([
      'resume',
      reference,
      ...how,
      '--detach',
      '--prompt-file',
      promptIn(lab.file(`${word}.md`), `${word} [[run: echo $PPID >${file}]] [[say: done]]`),
    ])
    expect((await lab.hf(['wait', 's', '--timeout', '60s'])).code).toBe(0)
    expect(readOr(file)).not.toBe('')
    expect(await lab.status('s')).toMatchObject({ harness: lab.launch.name, nativeId, state: 'completed' })
  }
  // One conversation: what carries an id to the model carries this one, from the first prompt to the last.
  const ids = lab.model.requests.map((request) => request.nativeId).filter((id) => id !== null)
  expect(new Set(ids)).toEqual(new Set(ids.length === 0 ? [] : [nativeId]))
  expect(lab.model.requests.some((request) => request.prompt.includes('no [[say'))).toBe(false)
})

scenario('what it has burned is told, and a budget ends it with the reason', async (lab) => {
  await lab.run('s', 'alpha [[run: true]] [[say: done]]')
  expect((await lab.hf(['wait', 's', '--timeout', '60s'])).code).toBe(0)
  const tokens = (await lab.status('s')).usage.tokens
  // Two answers of the model: 100 and 101 in, of them 20 from the cache each time, 7 out.
  expect(tokens).toMatchObject({ output: 14, cacheRead: 40 })
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = tokens as Record<string, number>
  expect(input).toBeGreaterThan(0)
  expect(tokens?.['total']).toBe(input + output + cacheRead + cacheWrite)

  const steps = Array.from({ length: 12 }, (_, step) => `[[run: echo ${step}]]`)
  await lab.run('t', `beta ${steps.join(' ')} [[hang]]`, ['--budget', '500'])
  const ended = await until(
    'the budget to end it',
    async () => {
      const status = await lab.status('t')
      return status.state === 'running' || status.state === 'stopping' ? null : status
    },
    AGENT_MS,
  )
  expect(ended).toMatchObject({ state: 'stopped', endedBy: 'budget', reason: expect.stringMatching(/budget.*500/) as string })
  expect((ended.usage.tokens?.['total'] ?? 0) >= 500).toBe(true)
})
