import { describe, expect, test } from 'vitest'
import { headlessWords, idIn, isHeadless, resumeWords, startWords } from '../../../src/decide/index.ts'
import { agentsAmong, harnessFrom, mayBeAgent } from '../../../src/harness/index.ts'
import { row } from '../../decide/build.ts'

const WHERE = '/home/dev/.config/holdfast/config.toml'
const MINE = {
  command: ['mine', '/opt/mine/bin/mine-agent'],
  preset: ['--sid', '{id}'],
  resume: ['chat', '--resume={id}', '{args}'],
  headless: ['ask', '{args}', '-q', '{prompt}'],
  headless_resume: ['ask', '--resume', '{id}', '{args}', '-q', '{prompt}'],
  prompt: 'argument',
  chooses: ['--latest'],
  id_after: ['--resume'],
  forks: ['--branch'],
  keeps_flags: ['--yes'],
  keeps_valued: ['-m|--model'],
  resume_in: 'any',
  variables: ['MINE_*'],
  id_variable: 'MINE_SESSION',
  output_id: 'session.id',
  process_names: ['mined'],
  zero_after: ['SIGTERM'],
}

describe('a harness that a person defined', () => {
  const mine = harnessFrom('mine', MINE, WHERE)
  test('is as it says', () => {
    expect(mine).toMatchObject({
      name: 'mine',
      commands: ['mine', '/opt/mine/bin/mine-agent'],
      program: { names: ['mine', 'mine-agent', 'mined'] },
      resumeIn: 'any',
      sessionVariables: ['MINE_*', 'MINE_SESSION'],
      idVariable: 'MINE_SESSION',
      capture: [{ from: 'output', field: 'session.id' }, { from: 'variable' }],
      zeroAfter: ['SIGTERM'],
      registry: null,
      sessions: null,
      usage: null,
      hooks: null,
    })
  })
  test('is spoken to as it says', () => {
    expect(startWords(mine, ['x'], 'abc')).toEqual({ words: ['--sid', 'abc', 'x'], id: 'abc' })
    expect(startWords(mine, ['--latest'], 'abc')).toEqual({ words: ['--latest'], id: null })
    expect(startWords(mine, ['--resume', 'some-id'], 'abc')).toEqual({ words: ['--resume', 'some-id'], id: 'some-id' })
    expect(startWords(mine, ['--resume', 'latest'], 'abc').id).toBeNull()
    expect(idIn(mine, ['--resume', 'x1', '--branch'])).toBeNull()
    expect(resumeWords(mine, 'abc', ['--yes', '--model', 'big', '--other'], ['go'])).toEqual([
      'chat',
      '--resume=abc',
      '--yes',
      '--model',
      'big',
      'go',
    ])
    expect(resumeWords(mine, 'abc', ['--model', 'big'], ['-m', 'small'])).toEqual(['chat', '--resume=abc', '-m', 'small'])
    expect(headlessWords(mine, { kind: 'resume', id: 'abc' }, [], 'a b')).toEqual(['ask', '--resume', 'abc', '-q', 'a b'])
    expect(isHeadless(mine, ['ask', 'x'])).toBe(true)
  })
  test('is seen in the process table', () => {
    const candidate = { row: row(500, { name: 'mined' }), exe: '/opt/mined', argv: ['mined', '--resume', 'x1'], cwd: '/w' }
    expect(agentsAmong([candidate], [])).toEqual([])
    expect(agentsAmong([candidate], [], [mine])).toMatchObject([{ harness: 'mine', named: 'x1', nativeId: null }])
    expect([mayBeAgent('mined'), mayBeAgent('mined', [], [mine])]).toEqual([false, true])
  })
  test('needs no more than a command', () => {
    const least = harnessFrom('least', { command: 'least' }, WHERE)
    expect(least).toMatchObject({
      commands: ['least'],
      speech: { preset: null, resume: null, headless: null, chooses: [] },
      resumeIn: 'same',
      capture: [],
    })
    expect(startWords(least, ['x'], 'abc')).toEqual({ words: ['x'], id: null })
    expect(resumeWords(least, 'abc', [], [])).toBeNull()
  })
  test('takes its prompt on stdin, unless it says otherwise', () => {
    const quiet = harnessFrom('quiet', { command: 'quiet', headless: ['-p', '{args}'] }, WHERE)
    expect(headlessWords(quiet, { kind: 'start', id: null }, ['x'], null)).toEqual(['-p', 'x'])
  })
})

describe('what cannot be meant is said, with the file, the key and what is allowed', () => {
  test.each<[string, unknown, RegExp]>([
    ['mine', { command: 'mine', comand: 'x' }, /\[harness\.mine\] comand: there is no such key; the keys are command, preset, /],
    ['mine', {}, /\[harness\.mine\] command: it is needed/],
    ['mine', { command: [] }, /command: it is needed/],
    ['mine', { command: 5 }, /command: it must be one executable, or a list of them/],
    ['mine', { command: [''] }, /command: it must be/],
    ['mine', 'mine', /\[harness\.mine\]: it must be a table/],
    ['mine', null, /it must be a table/],
    ['mine', [], /it must be a table/],
    ['claude', { command: 'x' }, /\[harness\.claude\]: Holdfast knows a harness of that name already/],
    ['coder', { command: 'x' }, /Holdfast knows a harness of that name already/],
    ['generic', { command: 'x' }, /Holdfast knows a harness of that name already/],
    ['../x', { command: 'x' }, /a name is of small letters/],
    ['', { command: 'x' }, /a name is of small letters/],
    ['x'.repeat(33), { command: 'x' }, /at most 32/],
    ['mine', { command: 'm', resume: ['--resume', '{id}'] }, /resume: \{args\} is missing; its blanks are \{id\} and \{args\}/],
    ['mine', { command: 'm', resume: ['--resume', '{ID}', '{args}'] }, /resume: \{ID\} means nothing here; its blanks are \{id\} and \{args\}/],
    ['mine', { command: 'm', resume: ['--resume={id}', 'x{args}'] }, /resume: \{args\} must be a word of its own/],
    ['mine', { command: 'm', resume: 'resume {id}' }, /resume: it must be a list of words/],
    ['mine', { command: 'm', preset: ['--id', '{id}', '{prompt}'] }, /preset: \{prompt\} means nothing here/],
    ['mine', { command: 'm', headless: ['{args}', '{prompt}'] }, /headless: \{prompt\} means nothing here/],
    ['mine', { command: 'm', headless: ['{args}'], prompt: 'argument' }, /headless: \{prompt\} is missing/],
    ['mine', { command: 'm', headless_resume: ['{id}', '{args}'] }, /headless_resume: it needs headless, too/],
    ['mine', { command: 'm', prompt: 'file' }, /prompt: it must be "stdin" or "argument"/],
    ['mine', { command: 'm', resume_in: 1 }, /resume_in: it must be "same" or "any"/],
    ['mine', { command: 'm', chooses: '--x' }, /chooses: it must be a list of words/],
    ['mine', { command: 'm', keeps_flags: ['yes'] }, /keeps_flags: it must be a list of options/],
    ['mine', { command: 'm', keeps_valued: ['--a=b'] }, /keeps_valued: it must be a list of options/],
    ['mine', { command: 'm', variables: ['*'] }, /variables: it must be a list of names of variables/],
    ['mine', { command: 'm', id_variable: 'A*' }, /id_variable: it must be the name of a variable/],
    ['mine', { command: 'm', output_id: 'a..b' }, /output_id: it must be the name of a field/],
    ['mine', { command: 'm', process_names: ['/x/y'] }, /process_names: it must be a list of names/],
    ['mine', { command: 'm', zero_after: ['SIGKILL'] }, /zero_after: it must be a list of SIGTERM and SIGINT/],
  ])('%s %j', (name, table, message) => {
    expect(() => harnessFrom(name, table, WHERE)).toThrow(message)
    expect(() => harnessFrom(name, table, WHERE)).toThrow(WHERE)
  })
})
