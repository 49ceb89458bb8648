import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { pages } from '../../src/cli/help/pages.ts'
import { visible } from '../../src/cli/help/shape.ts'
import { TABLE } from '../../src/cli/table.ts'
import { problemsPage, statesPage } from '../../src/show/index.ts'

test('docs/states.md is what the model says', () => {
  expect(readFileSync('docs/states.md', 'utf8')).toBe(statesPage())
})

test('docs/reference/problems.md is what the model says', () => {
  expect(readFileSync('docs/reference/problems.md', 'utf8')).toBe(problemsPage())
})

test.each(Object.entries(pages()))('%s is what the definitions of the commands say (npm run docs prints it)', (path, text) => {
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test('links between pages lead somewhere', () => {
  const pages = [
    'README.md',
    'AGENTS.md',
    'REVIEW.md',
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

/** Names in capitals stand for any name. */
const FILE = /`((?:src\/|test\/)?(?:app|act|decide|model|show|keep|harness|record|observe|daemon|cli|mcp|http|lib)\/[a-z0-9_./-]+\.(?:ts|sh))`/g

test('files that pages name are there', () => {
  const pages = [
    'ARCHITECTURE.md',
    'AGENTS.md',
    'REVIEW.md',
    'CONTRIBUTING.md',
    ...readdirSync('docs/decisions').map((name) => join('docs/decisions', name)),
  ]
  const missing = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(FILE)]
      .map(([, path = '']) => (/^(src|test)\//.test(path) ? path : join('src', path)))
      .filter((path) => !existsSync(path))
      .map((path) => `${page}: ${path}`),
  )
  expect(missing).toEqual([])
})

test('every room has a page', () => {
  for (const room of readdirSync('src')) expect(existsSync(join('src', room, 'README.md')), room).toBe(true)
})

test('README has exactly two commands, and CI runs the second', () => {
  const blocks = [...readFileSync('README.md', 'utf8').matchAll(/^```\n(npm [^\n]+)\n```$/gm)].map((match) => match[1])
  expect(blocks).toEqual(['npm run demo', 'npm test'])
  expect(readFileSync('.ci/run', 'utf8')).toMatch(/^npm test$/m)
})

test('every verb is in the table, in the reference and in the man page', () => {
  const files = readdirSync('src/cli/commands').map((file) => readFileSync(join('src/cli/commands', file), 'utf8'))
  const names = files.flatMap((text) =>
    [...text.matchAll(/^ {2}name: '([a-z_-]+)',$|^ {2}internal\('([a-z_]+)'|= internal\('([a-z_]+)'/gm)].map(
      (match) => match[1] ?? match[2] ?? match[3],
    ),
  )
  expect(TABLE.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
  for (const { name } of visible(TABLE)) {
    expect(readFileSync('docs/reference/commands.md', 'utf8'), name).toMatch(new RegExp(`^## ${name}$`, 'm'))
    expect(readFileSync('docs/holdfast.1', 'utf8'), name).toMatch(new RegExp(`^\\.SS ${name}$`, 'm'))
  }
})

test('nothing in the project speaks of the machine it was made on', () => {
  const files = [
    'README.md',
    'AGENTS.md',
    'REVIEW.md',
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
