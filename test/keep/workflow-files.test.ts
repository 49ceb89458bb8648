import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { workflowFiles } from '../../src/keep/index.ts'
import { policy } from '../../src/model/index.ts'
import { gitIn } from '../fixtures/git-traps.ts'
import { verifies } from '../requirements.ts'

const base = mkdtempSync(join(tmpdir(), 'hf-workflow-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))
const env = { PATH: process.env['PATH'], HOME: base, XDG_CONFIG_HOME: join(base, 'xdg') }
const git = (dir: string, ...args: string[]): string => gitIn(env, dir, ...args)
const files = workflowFiles(env, join(base, 'looks'), join(base, 'home'), join(import.meta.dirname, '../../dist'))

let serial = 0
function repository(text: string | null): string {
  const dir = join(base, `r${++serial}`)
  mkdirSync(dir)
  git(dir, 'init', '--quiet', '--initial-branch=main')
  writeFileSync(join(dir, 'a'), 'a\n')
  if (text !== null) writeFileSync(join(dir, 'WORKFLOW.md'), text)
  git(dir, 'add', '.')
  git(dir, 'commit', '--quiet', '-m', 'first')
  return dir
}

describe('read', () => {
  verifies('private', 'the file is that of the default branch, and not what lies in the working tree or on another branch', async () => {
    const dir = repository('Do it.\n')
    writeFileSync(join(dir, 'WORKFLOW.md'), 'Do something else.\n')
    git(dir, 'checkout', '--quiet', '-b', 'other')
    git(dir, 'commit', '--quiet', '-am', 'second')
    expect(await files.read(dir)).toMatchObject({ kind: 'found', branch: 'main', text: 'Do it.\n' })
  })

  test('a repository without the file is told with its commit', async () => {
    const dir = repository(null)
    expect(await files.read(dir)).toEqual({ kind: 'none', branch: 'main', commit: git(dir, 'rev-parse', 'HEAD').trim() })
  })

  test('the branch that the remote calls its own counts, as it was fetched', async () => {
    const origin = repository('From the remote.\n')
    git(base, 'clone', '--quiet', origin, join(base, 'clone'))
    writeFileSync(join(base, 'clone', 'WORKFLOW.md'), 'Mine.\n')
    git(join(base, 'clone'), 'commit', '--quiet', '-am', 'mine')
    expect(await files.read(join(base, 'clone'))).toMatchObject({ kind: 'found', branch: 'origin/main', text: 'From the remote.\n' })
  })

  verifies('unknown', 'a link, a file without bound, a folder without git and a repository without a commit are unknown', async () => {
    const linked = repository(null)
    symlinkSync('/etc/passwd', join(linked, 'WORKFLOW.md'))
    git(linked, 'add', '.')
    git(linked, 'commit', '--quiet', '-m', 'link')
    expect(await files.read(linked)).toEqual({ kind: 'unknown', why: 'WORKFLOW.md is no plain file there' })
    expect(await files.read(repository('x'.repeat(policy.workflowBytes + 1)))).toMatchObject({ kind: 'unknown' })
    const plain = join(base, 'plain')
    mkdirSync(plain)
    expect(await files.read(plain)).toMatchObject({ kind: 'unknown' })
    git(plain, 'init', '--quiet')
    expect(await files.read(plain)).toMatchObject({ kind: 'unknown' })
  })
})

describe('parse', () => {
  test('front matter and prompt are told apart', () => {
    expect(files.parse('---\r\na: 1\r\nb: [x]\r\n---\r\nHi\r\n---\r\nthere')).toEqual({ settings: { a: 1, b: ['x'] }, prompt: 'Hi\n---\nthere' })
    expect(files.parse('Hi\n---\na: 1\n---')).toEqual({ settings: null, prompt: 'Hi\n---\na: 1\n---' })
    expect(files.parse('---\n---\nHi')).toEqual({ settings: null, prompt: 'Hi' })
  })

  test.each([
    ['---\na: [\n---\n', /^its front matter is no YAML: /],
    ['---\na: 1\na: 2\n---\n', /^its front matter is no YAML: /],
    ['---\na: 1\n', /^its front matter has no end/],
  ])('%j is refused with a sentence', (text, sentence) => expect(() => files.parse(text)).toThrow(sentence))

  verifies('bounded', 'a small file of aliases does not grow without end', () => {
    const rows = Array.from({ length: 12 }, (_, row) => `a${row + 1}: &a${row + 1} [${Array(9).fill(`*a${row}`).join(', ')}]`)
    expect(() => files.parse(['---', 'a0: &a0 [x]', ...rows, '---'].join('\n'))).toThrow(/no YAML/)
  })
})

describe('render', () => {
  test('words of the request are filled in', () => {
    const text = '{{ issue.title }}{% if attempt %} again{% endif %}{% for label in issue.labels %} {{ label | upcase }}{% endfor %}'
    expect(files.render(text, { issue: { title: 'Fix', labels: ['a', 'b'] }, attempt: null })).toBe('Fix A B')
    expect(files.render(text, { issue: { title: 'Fix', labels: [] }, attempt: 2 })).toBe('Fix again')
  })

  test('words of the request are never a template themselves', () => {
    expect(files.render('{{ issue.title }}', { issue: { title: '{{ issue.labels }}' } })).toBe('{{ issue.labels }}')
  })

  test.each([
    ['{{ nope }}', /undefined variable: nope/],
    ['{{ issue.nope }}', /undefined variable: issue.nope/],
    ['{{ issue.title | nope }}', /undefined filter: nope/],
    ['{% include "/etc/passwd" %}', /passwd/],
    ['{% for i in (1..100000000) %}x{% endfor %}', /limit/],
    ['{{ issue.title.constructor }}', /undefined variable/],
    ['{% if %', /./],
  ])('%j is refused', (template, sentence) => expect(() => files.render(template, { issue: { title: 'Fix' } })).toThrow(sentence))
})

verifies('private', 'an allowed content is noted for the user alone, and for its repository alone', () => {
  const entry = { repository: '/somewhere', sha256: 'aa', commit: 'bb', at: 1, by: 'me@here' }
  expect(files.trusted('/somewhere')).toBeNull()
  files.trust(entry)
  expect(files.trusted('/somewhere')).toEqual(entry)
  expect(files.trusted('/elsewhere')).toBeNull()
  expect(statSync(join(base, 'home', 'workflows')).mode & 0o777).toBe(0o700)
})
