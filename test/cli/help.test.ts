import { describe, expect, test } from 'vitest'
import { subsOf } from '../../src/cli/command.ts'
import { bashScript } from '../../src/cli/help/bash.ts'
import { fishScript } from '../../src/cli/help/fish.ts'
import { exitsOf, shownOptions, visible } from '../../src/cli/help/shape.ts'
import { overviewText, verbText } from '../../src/cli/help/text.ts'
import { zshScript } from '../../src/cli/help/zsh.ts'
import { GLOBAL } from '../../src/cli/options.ts'
import { TABLE } from '../../src/cli/table.ts'
import { exitCode } from '../../src/model/index.ts'

const COLUMNS = 80
const LINES = 56
/** Openings that hide the noun of a sentence. */
const VAGUE = /^(What|Who|Whoever|Whatever|Nobody|Somebody|One|That|Those)\b/
const WORDS = 25
const shown = visible(TABLE)
const sentences = (text: string): string[] => text.split(/(?<=[.?!])\s+(?=[A-Z])/)

describe('holdfast help', () => {
  const lines = overviewText(TABLE).split('\n')

  test('it fits on a screen', () => {
    expect(lines.length).toBeLessThanOrEqual(LINES)
    expect(lines.filter((line) => line.length > COLUMNS)).toEqual([])
  })

  test('it has a line for each verb, and none for internal ones', () => {
    const [rare, daily] = [shown.filter((one) => one.rare === true), shown.filter((one) => one.rare !== true)]
    for (const { name } of rare) expect(lines.slice(lines.indexOf('rarely needed')).join(' ')).toMatch(new RegExp(`\\b${name}\\b`))
    for (const { name, summary } of daily) expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^  ${name} +${summary.slice(0, 10)}`)))
    expect(lines.join('\n')).not.toContain('_finish')
  })

  test('it names every exit code', () => {
    for (const code of Object.values(exitCode)) expect(lines.join('\n')).toMatch(new RegExp(`\\b${code} `))
  })
})

describe.each(shown.map((command) => [command.name, command] as const))('the definition of %s', (name, command) => {
  const more = command.more()
  const options = [...shownOptions(command), ...subsOf(command).flatMap(shownOptions)]

  test('its help fits into 80 columns', () => {
    expect(
      verbText(command)
        .split('\n')
        .filter((line) => line.length > COLUMNS),
    ).toEqual([])
  })

  test('it has a summary, a short description, two examples and its exit codes', () => {
    expect(command.summary).toMatch(/^[a-z].*[^.]$/)
    const described = more.description.flatMap(sentences)
    expect(described.length).toBeGreaterThanOrEqual(2)
    expect(described.length).toBeLessThanOrEqual(5)
    expect(more.examples.length).toBeGreaterThanOrEqual(2)
    expect(exitsOf(command).map(([code]) => code)).toEqual(expect.arrayContaining([0, 64]))
  })

  test('its sentences are plain', () => {
    for (const sentence of [...more.description.flatMap(sentences), ...more.examples.map(([, about]) => about), more.otherExits ?? 'None.']) {
      expect(sentence).toMatch(/\.$/)
      expect(sentence).not.toMatch(VAGUE)
      // A list of names is no long sentence.
      if (!/^(Known agents|Agents with hooks):/.test(sentence)) expect(sentence.split(/\s+/).length, sentence).toBeLessThanOrEqual(WORDS)
    }
  })

  test('each option is explained once, and its letter is its own', () => {
    for (const takes of subsOf(command).length === 0 ? [command] : subsOf(command)) {
      const all = [...takes.options, ...GLOBAL]
      expect(new Set(all.map((option) => option.name)).size, name).toBe(all.length)
      const letters = all.flatMap(({ short }) => (short === undefined ? [] : [short]))
      expect(new Set(letters).size, name).toBe(letters.length)
    }
    for (const { about } of options) expect(about).toMatch(/^[a-z].{4,100}[^.]$/)
  })

  test('scripts and help know its options', () => {
    for (const option of options) {
      expect(verbText(command)).toContain(`--${option.name}`)
      expect(bashScript(TABLE)).toContain(`--${option.name}`)
      expect(zshScript(TABLE)).toContain(`--${option.name}`)
      expect(fishScript(TABLE)).toContain(`-l ${option.name} `)
    }
  })
})

test('no two verbs have one name', () => {
  expect(new Set(TABLE.map(({ name }) => name)).size).toBe(TABLE.length)
})

test('the same letter means the same everywhere', () => {
  const letters = TABLE.flatMap((command) => [...command.options, ...GLOBAL]).flatMap(({ short, name }) =>
    short === undefined ? [] : [`${short} ${name}`],
  )
  expect([...new Set(letters)].toSorted()).toEqual(['a all', 'd detach', 'f follow', 'h help', 'n lines', 'v verbose'])
})

test('internal verbs and options are in no list', () => {
  for (const text of [overviewText(TABLE), bashScript(TABLE), zshScript(TABLE), fishScript(TABLE)]) {
    expect(text).not.toMatch(/_finish|_hook\b|--outside|-l outside/)
  }
})
