import { describe, expect, test } from 'vitest'
import { subsOf } from '../../src/cli/command.ts'
import { commandNamed } from '../../src/cli/find.ts'
import { TABLE } from '../../src/cli/table.ts'
import { parseVerb } from '../../src/cli/verb.ts'
import { Problem } from '../../src/model/index.ts'

/** A command line, and how it reads: flags, values, words, and the command behind them (`literal`: behind --). */
type Read = {
  sub?: string
  flags?: string[]
  values?: Record<string, string>
  lists?: Record<string, readonly string[]>
  words?: string[]
  command?: string[]
  literal?: boolean
}

function read(line: readonly string[]): Read {
  const [verb = '', ...args] = line
  const { parsed, sub } = parseVerb(commandNamed(verb, TABLE), args, TABLE)
  const { flags, values, lists, words, command, literal } = parsed
  return {
    ...(sub === null ? {} : { sub: sub.name }),
    ...(flags.size === 0 ? {} : { flags: [...flags] }),
    ...(values.size === 0 ? {} : { values: Object.fromEntries(values) }),
    ...(lists.size === 0 ? {} : { lists: Object.fromEntries(lists) }),
    ...(words.length === 0 ? {} : { words: [...words] }),
    ...(command === null ? {} : { command: [...command] }),
    ...(literal ? { literal } : {}),
  }
}

const refusal = (line: readonly string[]): string => {
  try {
    read(line)
    return 'not refused'
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    expect(error.exitCode).toBe(64)
    return error.message
  }
}

describe('words are read', () => {
  const cases: readonly (readonly [string, Read])[] = [
    ['ls', {}],
    ['ls -a --watch', { flags: ['all', 'watch'] }],
    ['run -d claude -p hi', { flags: ['detach'], command: ['claude', '-p', 'hi'] }],
    ['run --session s -- x --json', { values: { session: 's' }, command: ['x', '--json'], literal: true }],
    ['run --timeout=5m x', { values: { timeout: '5m' }, command: ['x'] }],
    ['run --name a --name b x', { values: { name: 'b' }, command: ['x'] }],
    ['run --name= x', { values: { name: '' }, command: ['x'] }],
    ['run --name=a=b x', { values: { name: 'a=b' }, command: ['x'] }],
    ['run --worktree', { values: { worktree: '' } }],
    ['run --worktree -- x', { values: { worktree: '' }, command: ['x'], literal: true }],
    ['run --worktree fix -- x', { values: { worktree: 'fix' }, command: ['x'], literal: true }],
    ['run --worktree fix -d x', { values: { worktree: 'fix' }, flags: ['detach'], command: ['x'] }],
    ['run --worktree=fix x', { values: { worktree: 'fix' }, command: ['x'] }],
    ['run --worktree x', { values: { worktree: '' }, command: ['x'] }],
    ['run --dir -d x', { values: { dir: '-d' }, command: ['x'] }],
    [
      'work add --after a --label=k=v --after b x',
      { sub: 'add', values: { after: 'b', label: 'k=v' }, lists: { after: ['a', 'b'], label: ['k=v'] }, words: ['x'] },
    ],
    ['run', {}],
    ['resume s --takeover -- --model opus', { flags: ['takeover'], words: ['s'], command: ['--model', 'opus'], literal: true }],
    ['stop a b --grace 1s', { values: { grace: '1s' }, words: ['a', 'b'] }],
    ['stop s --outside', { flags: ['outside'], words: ['s'] }],
    ['logs s -f -n 5', { flags: ['follow'], values: { lines: '5' }, words: ['s'] }],
    ['events -f', { flags: ['follow'] }],
    ['send s -', { words: ['s', '-'] }],
    ['send s -- -x', { words: ['s'], command: ['-x'], literal: true }],
    ['message -a hi', { flags: ['all'], words: ['hi'] }],
    ['status s --json --home /x', { flags: ['json'], values: { home: '/x' }, words: ['s'] }],
    ['status -h', { flags: ['help'] }],
    ['task start --name n -- x -d', { sub: 'start', values: { name: 'n' }, command: ['x', '-d'], literal: true }],
    ['task start --name n x -d', { sub: 'start', values: { name: 'n' }, command: ['x', '-d'] }],
    ['task --json ls s', { sub: 'ls', flags: ['json'], words: ['s'] }],
    ['task start --help', { sub: 'start', flags: ['help'] }],
    ['task --help', { flags: ['help'] }],
    ['daemon start', { sub: 'start' }],
    ['daemon run --by service', { sub: 'run', values: { by: 'service' } }],
    ['daemon --by service run', { sub: 'run', values: { by: 'service' } }],
    ['daemon --help', { flags: ['help'] }],
    ['hooks install claude codex', { sub: 'install', words: ['claude', 'codex'] }],
    ['hooks --json ls', { sub: 'ls', flags: ['json'] }],
    ['service install --force', { sub: 'install', flags: ['force'] }],
    ['_finish r 0', { words: ['r', '0'] }],
  ]
  test.each(cases)('%s', (line, expected) => expect(read(line.split(' '))).toEqual(expected))

  test('a word with a blank in it is a text, also behind a dash', () => {
    expect(read(['report', '-a plan'])).toEqual({ words: ['-a plan'] })
    expect(read(['message', '--all', '- one\n- two'])).toEqual({ flags: ['all'], words: ['- one\n- two'] })
    expect(refusal(['report', '--x=a b'])).toBe('unknown option --x=a b')
  })
})

describe('wrong words are refused with 64', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['ls --frob', 'unknown option --frob'],
    ['ls -d', 'unknown option -d'],
    ['ls --detach', 'ls takes no --detach'],
    ['status -a', 'unknown option -a'],
    ['logs s -n5', 'unknown option -n5'],
    ['logs s -n=5', 'unknown option -n=5'],
    ['restart s --last', 'restart takes no --last'],
    ['resume s --worktree', 'resume takes no --worktree'],
    ['resume s --name=x', 'resume takes no --name'],
    ['resume s --nmae x', 'unknown option --nmae'],
    ['ls --version', 'unknown option --version'],
    ['ls --constructor', 'unknown option --constructor'],
    ['ls --all=yes', '--all takes no value'],
    ['run --session', '--session needs a value'],
    ['logs s -n', '--lines needs a value'],
    ['run --worktree fix x', 'is "fix" what --worktree takes, or does the command begin there?'],
    ['task', 'task takes start or ls'],
    ['task stop', 'task takes start or ls, not "stop"'],
    ['task --name n start x', 'task takes no --name'],
    ['task ls --name n', 'task ls takes no --name'],
    ['daemon', 'daemon takes run, start, stop or status'],
    ['daemon restart', 'daemon takes run, start, stop or status, not "restart"'],
    ['daemon stop --by service', '--by is for daemon run'],
    ['service status --force', '--force is for service install and service uninstall'],
    ['hooks', 'hooks takes install, uninstall or ls'],
    ['frob', 'unknown verb "frob"'],
    ['constructor', 'unknown verb "constructor"'],
  ]
  test.each(cases)('%s', (line, message) => expect(refusal(line.split(' '))).toBe(message))
})

test('an option of one verb is unknown to every other that does not name it', () => {
  const plain = TABLE.filter((command) => subsOf(command).length === 0)
  const every = new Map(plain.flatMap(({ options }) => options).map((option) => [option.name, option]))
  for (const { name, options } of plain)
    for (const other of every.values())
      if (!options.some((option) => option.name === other.name))
        expect(refusal([name, `--${other.name}`]), name).toBe(
          other.hidden === true ? `unknown option --${other.name}` : `${name} takes no --${other.name}`,
        )
})

test('an option that is nearly right is named, and one of other verbs is called so', () => {
  const hint = (line: string): string | null => {
    try {
      read(line.split(' '))
      return null
    } catch (error) {
      return (error as Problem).hint
    }
  }
  expect(hint('run --nmae x claude')).toBe('did you mean --name? holdfast run --help lists the options; behind -- a dash is allowed')
  expect(hint('ls --al')).toMatch(/^did you mean --all\?/)
  expect(hint('stop s --oustide')).not.toContain('outside')
  expect(hint('ls --frobnicate')).toBe('holdfast ls --help lists the options; behind -- a dash is allowed')
  expect(hint('resume s --worktree')).toMatch(/^run takes it;/)
  expect(hint('ls --timeout 5s')).toMatch(/^run, resume, restart and others take it;/)
  expect(hint('daemon strat')).toMatch(/^did you mean daemon start\?/)
})

test.each([
  ['worker', /^worker takes run$/],
  ['worker walk', /^worker takes run, not "walk"$/],
  ['feedback', /^feedback takes add, ls or retry$/],
])('%s names what it takes', (line, message) => {
  expect(() => read(line.split(' '))).toThrow(message)
})

test('words of docker and git work', () => {
  for (const [word, verb] of [
    ['ps', 'ls'],
    ['list', 'ls'],
    ['log', 'logs'],
    ['kill', 'stop'],
  ] as const)
    expect(commandNamed(word, TABLE).name).toBe(verb)
  const words = TABLE.flatMap(({ name, also = [] }) => [name, ...also])
  expect(new Set(words).size).toBe(words.length)
})

test('a verb that is nearly right is named', () => {
  const hint = (name: string): string | null => {
    try {
      commandNamed(name, TABLE)
      return null
    } catch (error) {
      return (error as Problem).hint
    }
  }
  for (const [wrong, right] of [
    ['stpo', 'stop'],
    ['statsu', 'status'],
    ['sibling', 'siblings'],
    ['docter', 'doctor'],
    ['start', 'run'],
    ['inspect', 'status'],
    ['continue', 'resume'],
    ['attatch', 'attach'],
    ['comp', 'completion'],
  ] as const)
    expect(hint(wrong), wrong).toBe(`did you mean ${right}? holdfast help lists all verbs`)
  expect(hint('_finsh')).not.toContain('_finish')
  expect(hint('frobnicate')).toBe('holdfast help lists them')
})
