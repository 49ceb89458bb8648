import { randomUUID } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { until } from '../real/lab.ts'
import { AGENT_MS, type AgentLab, scenario } from './lab.ts'

const JOINED = 'Holdfast: b joined you here'

scenario(
  'with our hooks a prompt tells the model who joined, exactly once; and the next one, when nothing changed, nothing',
  async (lab) => {
    await lab.ok(['hooks', 'install', lab.launch.name])
    const next = await conversation(lab, ['alpha [[say: one]]', 'beta [[say: two]]', 'gamma [[say: three]]'])
    expect(timesTold(lab, 'alpha', 'Holdfast:')).toBe(0)
    await lab.ok(['run', '--session', 'b', '--dir', lab.dir, '--share', '--detach', '--', 'sleep', '1000'])
    await next('beta')
    expect(timesTold(lab, 'beta', JOINED)).toBe(1)
    await next('gamma')
    // It is in the conversation, where it was told, and nowhere else.
    expect(timesTold(lab, 'gamma', JOINED)).toBeLessThanOrEqual(1)
    expect(timesTold(lab, 'gamma', 'Holdfast:')).toBe(timesTold(lab, 'gamma', JOINED))
    await lab.ok(['stop', 'b'])
  },
  { of: ({ name }) => name !== 'code' },
)

scenario(
  'with our hooks a message in the middle of a turn is told to the model with its next tool call, exactly once',
  async (lab) => {
    await lab.ok(['hooks', 'install', lab.launch.name])
    await lab.run('a', 'alpha [[run: true]] [[gate: sent]] [[run: true]] [[run: true]] [[say: done]]', [], lab.launch.hooked)
    await lab.asked('alpha', 1)
    await lab.ok(['message', 'a', 'hello'])
    lab.model.open('sent')
    await lab.asked('alpha', 3)
    const told = (results: number) => occurrences(lastAsked(lab, 'alpha', results), 'Holdfast: 1 message from ')
    expect([told(1), told(2), told(3)]).toEqual([0, 1, 1])
  },
  { of: ({ name }) => name === 'claude' || name === 'codex' },
)

const ID = '@native-id@'

/** One run in which an agent is given prompts one after another, each when it is asked for; resolves after the first. */
async function conversation(lab: AgentLab, prompts: readonly string[]): Promise<(word: string) => Promise<void>> {
  const { launch, path } = lab
  const preset = randomUUID()
  const [id, go, ended] = [lab.file('id'), (word: string) => lab.file(`go.${word}`), (word: string) => lab.file(`ended.${word}`)]
  const wordOf = (prompt: string): string => prompt.split(' ')[0] ?? ''
  const lines = prompts.map((prompt, at) => {
    const args = [...(at === 0 ? launch.start(preset, prompt) : launch.resume(ID, prompt)), ...launch.hooked]
    const command = [path, ...args].map((word) => (word === ID ? `"$(cat ${id})"` : `'${word}'`)).join(' ')
    return `while [ ! -e ${go(wordOf(prompt))} ]; do sleep 0.1; done; ${command} </dev/null; echo >${ended(wordOf(prompt))}`
  })
  await lab.ok(['run', '--session', 'a', '--dir', lab.dir, '--detach', '--', 'sh', '-c', lines.join('\n')])
  const next = async (word: string): Promise<void> => {
    writeFileSync(go(word), '')
    await until(`${word} to be over`, () => existsSync(ended(word)), AGENT_MS)
  }
  await next(wordOf(prompts[0] ?? ''))
  writeFileSync(id, launch.idIn === null ? preset : (launch.idIn.exec(await lab.ok(['logs', 'a']))?.[1] ?? ''))
  return next
}

const lastAsked = (lab: AgentLab, word: string, results: number): string =>
  lab.model.requests.filter(({ prompt, results: so }) => prompt.includes(word) && so === results).at(-1)?.text ?? ''
const timesTold = (lab: AgentLab, word: string, words: string): number => {
  const asked = lastAsked(lab, word, 0)
  expect(asked, `${word} was asked`).toContain(word)
  return occurrences(asked, words)
}
const occurrences = (text: string, words: string): number => text.split(words).length - 1
