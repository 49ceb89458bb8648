import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { HELP } from '../../src/cli/help.ts'
import { problemsPage, statesPage } from '../../src/show/index.ts'

test('docs/states.md is what the model says', () => {
  expect(readFileSync('docs/states.md', 'utf8')).toBe(statesPage())
})

test('docs/reference/problems.md is what the model says', () => {
  expect(readFileSync('docs/reference/problems.md', 'utf8')).toBe(problemsPage())
})

test('links between pages lead somewhere', () => {
  const pages = [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md'))
      .map((path) => join('docs', path)),
  ]
  const broken = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#:]+)\)/g)]
      .map((match) => join(dirname(page), match[1] ?? ''))
      .filter((path) => !existsSync(path))
      .map((path) => `${page}: ${path}`),
  )
  expect(broken).toEqual([])
})

test('README has exactly two commands, and CI runs the second', () => {
  const blocks = [...readFileSync('README.md', 'utf8').matchAll(/^```\n(npm [^\n]+)\n```$/gm)].map((match) => match[1])
  expect(blocks).toEqual(['npm run demo', 'npm test'])
  expect(readFileSync('.ci/run', 'utf8')).toMatch(/^npm test$/m)
})

test('help names every verb of the command', () => {
  const verbs = /const VERBS[^{]*\{([\s\S]*?)\n\}/.exec(readFileSync('src/cli/main.ts', 'utf8'))?.[1] ?? ''
  const names = [...verbs.matchAll(/^\s+([a-z]+): \{ run: \w+Verb/gm)].map((match) => match[1] ?? '')
  expect(names.length).toBeGreaterThan(10)
  for (const name of names) expect(HELP, name).toMatch(new RegExp(`\\b${name}\\b`))
})

test('nothing in the project speaks of the machine it was made on', () => {
  const files = [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'package.json',
    'package-lock.json',
    ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md'))
      .map((path) => join('docs', path)),
  ]
  for (const file of files) expect(readFileSync(file, 'utf8'), file).not.toMatch(/\/work\/|\.\.\/shared|registry\.npmjs/)
})
