import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  choosesSession,
  daemonizes,
  headlessWords,
  idIn,
  isHeadless,
  keptWords,
  resumeWords,
  startWords,
  wantsApart,
} from '../../src/decide/index.ts'
import { HARNESSES, harnessFrom, harnessNamed } from '../../src/harness/index.ts'
import type { Harness } from '../../src/model/index.ts'

const ID = '0198c2f4-1b2c-7d3e-8f40-0123456789ab'
const OTHER = '11111111-2222-4333-8444-555555555555'
const named = (name: string): Harness => harnessNamed(name) ?? expect.unreachable(name)
/** A command line as it is typed; no word of these has a space. */
const line = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '')

describe('a new session', () => {
  test.each<[string, string, string, string | null]>([
    ['claude', '', `--session-id ${ID}`, ID],
    ['claude', '-p --model opus', `--session-id ${ID} -p --model opus`, ID],
    ['claude', `--session-id ${OTHER} -p`, `--session-id ${OTHER} -p`, OTHER],
    ['claude', `--resume ${OTHER}`, `--resume ${OTHER}`, OTHER],
    ['claude', `--resume=${OTHER}`, `--resume=${OTHER}`, OTHER],
    ['claude', `-r${OTHER}`, `-r${OTHER}`, OTHER],
    ['claude', `-r ${OTHER} --fork-session`, `-r ${OTHER} --fork-session`, null],
    ['claude', `-r ${OTHER} --fork-session --session-id ${ID}`, `-r ${OTHER} --fork-session --session-id ${ID}`, ID],
    ['claude', '-c', '-c', null],
    ['claude', '--resume my-name', '--resume my-name', null],
    ['claude', '--bg hello', '--bg hello', null],
    ['claude', `--session-id ${OTHER} --bg`, `--session-id ${OTHER} --bg`, null],
    ['claude', 'stop 7a607dd8', 'stop 7a607dd8', null],
    ['claude', '-- --resume', `--session-id ${ID} -- --resume`, ID],
    ['gemini', '--yolo', `--session-id ${ID} --yolo`, ID],
    ['gemini', '--resume latest', '--resume latest', null],
    ['qwen', '-i hello', `--session-id ${ID} -i hello`, ID],
    ['copilot', `--resume=${OTHER}`, `--resume=${OTHER}`, OTHER],
    ['grok', `-s ${OTHER}`, `-s ${OTHER}`, OTHER],
    ['pi', '--no-session', '--no-session', null],
    ['codex', 'exec --json x', 'exec --json x', null],
    ['codex', `resume ${OTHER}`, `resume ${OTHER}`, OTHER],
    ['codex', `-m gpt exec --json resume ${OTHER} go`, `-m gpt exec --json resume ${OTHER} go`, OTHER],
    ['codex', `resume --model gpt ${OTHER}`, `resume --model gpt ${OTHER}`, OTHER],
    ['codex', `fork ${OTHER}`, `fork ${OTHER}`, null],
    ['codex', 'resume --last', 'resume --last', null],
    ['opencode', 'run -s ses_4f2aBC hello', 'run -s ses_4f2aBC hello', 'ses_4f2aBC'],
    ['opencode', 'run -s ses_4f2aBC --fork', 'run -s ses_4f2aBC --fork', null],
    ['goose', 'session -r --session-id 20260102_3', 'session -r --session-id 20260102_3', '20260102_3'],
    ['cline', '--id 1794825049038_hbfk3 -i', '--id 1794825049038_hbfk3 -i', '1794825049038_hbfk3'],
    ['droid', 'exec -r high x', 'exec -r high x', null],
    ['amp', `threads continue T-${OTHER}`, `threads continue T-${OTHER}`, `T-${OTHER}`],
    ['generic', '--resume x', '--resume x', null],
  ])('%s %s', (name, args, words, id) => expect(startWords(named(name), line(args), ID)).toEqual({ words: line(words), id }))

  test('nobody has an id for it: nothing is preset', () => {
    expect(startWords(named('claude'), ['-p'], null)).toEqual({ words: ['-p'], id: null })
  })
  test('a word far from the front is of a prompt', () => {
    expect(choosesSession(named('codex'), ['exec', 'review', 'resume'])).toBe(false)
    expect(idIn(named('codex'), ['exec', 'x', 'resume', ID])).toBeNull()
  })
  test('the value of an option is no sub-command', () => {
    expect(choosesSession(named('codex'), ['--model', 'resume', 'exec'])).toBe(false)
    expect(isHeadless(named('codex'), ['-c', 'exec', 'hello'])).toBe(false)
  })
})

describe('resuming', () => {
  test.each<[string, string, string, string]>([
    ['claude', '', '', `--resume ${ID}`],
    [
      'claude',
      `--session-id ${ID} --model opus --dangerously-skip-permissions hello`,
      '',
      `--resume ${ID} --model opus --dangerously-skip-permissions`,
    ],
    ['claude', '--model=opus -n name --permission-mode plan', '', `--resume ${ID} --model=opus --permission-mode plan`],
    ['claude', '--model opus', '--model haiku go', `--resume ${ID} --model haiku go`],
    ['claude', '--dangerously-skip-permissions', '--permission-mode plan', `--resume ${ID} --permission-mode plan`],
    ['claude', '--add-dir /a /b --allowedTools=Read -p', 'go', `--resume ${ID} --add-dir=/a --add-dir=/b --allowedTools=Read go`],
    ['claude', '-p --output-format json', 'go', `--resume ${ID} go`],
    ['claude', '-p --output-format json', '-p go', `--resume ${ID} --output-format json -p go`],
    ['claude', 'prompt -- --model x', '', `--resume ${ID}`],
    ['claude', '--model', '', `--resume ${ID}`],
    ['codex', 'exec --json -m gpt -c a=1 -s read-only hello', '', `resume ${ID} -m gpt -c a=1 -s read-only`],
    ['codex', '-m gpt -c a=1 --search', '--model x -c b=2', `resume ${ID} -c a=1 --search --model x -c b=2`],
    ['codex', '-a never -s read-only', '-a on-request', `resume ${ID} -s read-only -a on-request`],
    ['codex', '--dangerously-bypass-approvals-and-sandbox', '-s read-only', `resume ${ID} -s read-only`],
    ['gemini', '-y -m flash', '--approval-mode default', `--resume ${ID} -m flash --approval-mode default`],
    ['copilot', '--allow-all --allow-tool a b', '', `--resume=${ID} --allow-all --allow-tool=a --allow-tool=b`],
    ['goose', 'run --provider p -t x', '', `session --resume --session-id ${ID} --provider p`],
    ['opencode', 'run --format json --auto -m a/b hi', '', `--session ${ID} --auto -m a/b`],
  ])('%s, after %s, with %s', (name, earlier, args, words) => expect(resumeWords(named(name), ID, line(earlier), line(args))).toEqual(line(words)))

  test('what cannot be resumed is not', () => {
    for (const name of ['cn', 'aider', 'generic']) expect(resumeWords(named(name), ID, [], [])).toBeNull()
  })
  test('for one prompt, what only a terminal needs is dropped', () => {
    expect(keptWords(named('codex'), line('-a never --search --json -m gpt'), [], 'headless')).toEqual(line('--json -m gpt'))
    expect(keptWords(named('codex'), line('-a never --search --json -m gpt'), [], 'interactive')).toEqual(line('-a never --search -m gpt'))
  })
})

describe('one prompt without a terminal', () => {
  const start = { kind: 'start', id: ID } as const
  const resume = { kind: 'resume', id: ID } as const
  test.each<[string, typeof start | typeof resume, string | null, string | null]>([
    ['claude', start, null, `--session-id ${ID} -p --x`],
    ['claude', resume, null, `-p --resume ${ID} --x`],
    ['codex', start, null, 'exec --x -'],
    ['codex', resume, null, `exec --x resume ${ID} -`],
    ['code', resume, null, `exec --x resume ${ID} -`],
    ['gemini', start, null, `--session-id ${ID} --x`],
    ['qwen', resume, null, `--resume ${ID} --x`],
    ['copilot', resume, null, `--resume=${ID} --x`],
    ['opencode', start, null, 'run --x'],
    ['opencode', resume, null, `run --session ${ID} --x`],
    ['goose', resume, null, `run --resume --session-id ${ID} --x --instructions -`],
    ['grok', start, null, `--session-id ${ID} --prompt-file /dev/stdin --x`],
    ['kimi', start, 'hello', '--x --prompt hello'],
    ['kimi', start, null, null],
    ['cline', start, '--hello', '--x -- --hello'],
    ['cline', resume, 'hello', null],
    ['cn', resume, null, null],
    ['claude', start, 'hello', null],
    ['generic', start, null, null],
  ])('%s %j %s', (name, how, prompt, words) => expect(headlessWords(named(name), how, ['--x'], prompt)).toEqual(words === null ? null : line(words)))

  test('who chooses a session gets no other', () => {
    expect(headlessWords(named('claude'), start, ['--continue'], null)).toEqual(['-p', '--continue'])
    expect(headlessWords(named('claude'), { kind: 'start', id: null }, [], null)).toEqual(['-p'])
  })
  test.each<[string, string, boolean]>([
    ['claude', '-p x', true],
    ['claude', '--print', true],
    ['claude', 'hello -- -p', false],
    ['codex', '-m gpt exec x', true],
    ['codex', 'hello', false],
    ['opencode', 'run', true],
    ['gemini', '-i x', false],
    ['generic', '-p', false],
  ])('%s %s: %s', (name, args, is) => expect(isHeadless(named(name), line(args))).toBe(is))
  test.each<[string, string, boolean]>([
    ['claude', '--bg x', true],
    ['claude', '--background', true],
    ['claude', '-- --bg', false],
    ['cline', '--zen x', true],
    ['codex', 'x', false],
  ])('%s %s goes on in a daemon: %s', (name, args, is) => expect(daemonizes(named(name), line(args))).toBe(is))
})

describe('whatever is said', () => {
  const harness = fc.constantFrom(
    ...HARNESSES,
    harnessFrom('mine', { command: 'mine', preset: ['--id', '{id}'], resume: ['go={id}', '{args}'] }, 'x'),
  )
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom(
      ...HARNESSES.flatMap(({ speech }) => [...speech.chooses, ...speech.keeps.flags, ...speech.keeps.valued].flatMap((one) => one.split('|'))),
    ),
    fc.constantFrom('{id}', '{args}', '{prompt}', '$(rm)', '--', '=', `--resume=${OTHER}`, OTHER),
  )
  const args = fc.array(word, { maxLength: 8 })

  test('every word of the caller stays one word, in its order', () => {
    fc.assert(
      fc.property(harness, args, (one, given) => {
        const { words } = startWords(one, given, ID)
        expect(words.slice(words.length - given.length)).toEqual(given)
        const resumed = resumeWords(one, ID, [], given)
        if (resumed !== null) expect(resumed.join('\0')).toContain(given.join('\0'))
      }),
    )
  })
  test('an id that is certain is on the command line', () => {
    fc.assert(
      fc.property(harness, args, (one, given) => {
        const { words, id } = startWords(one, given, ID)
        if (id !== null) expect(words.some((said) => said.includes(id))).toBe(true)
        if (choosesSession(one, given)) expect(words).toEqual(given)
      }),
    )
  })
  test('only options are kept, once each, and keeping what was kept changes nothing', () => {
    fc.assert(
      fc.property(harness, args, fc.constantFrom('interactive' as const, 'headless' as const), (one, given, how) => {
        const kept = keptWords(one, given, [], how)
        expect(keptWords(one, kept, [], how)).toEqual(kept)
        expect(choosesSession(one, kept)).toBe(false)
        expect(isHeadless(one, kept) && how === 'interactive').toBe(false)
      }),
    )
  })
  test('a prompt stays one word', () => {
    fc.assert(
      fc.property(fc.string(), (prompt) => {
        expect(headlessWords(named('kimi'), { kind: 'start', id: null }, [], prompt)).toEqual(['--prompt', prompt])
      }),
    )
  })
})

describe('out of a shared daemon', () => {
  const codex = named('codex')
  const HELP =
    'Commands:\n  exec      Run without a terminal\n  resume    Go on\n  mcp       Servers\nOptions:\n      --no-daemon\n          Keep apart\n'
  const OLD = HELP.replace('--no-daemon', '--no-dae')
  test.each<[string[], string, boolean]>([
    [[], HELP, true],
    [['-m', 'gpt', 'fix the bug'], HELP, true],
    [['resume', 'x'], HELP, true],
    [['--no-daemon'], HELP, false],
    [['exec', 'x'], HELP, false],
    [['mcp', 'list'], HELP, false],
    [[], OLD, false],
    [[], '', false],
  ])('%j is told so where the help knows it', (args, help, told) => expect(wantsApart(codex, args, help)).toBe(told))
  test('others have none', () => expect(wantsApart(named('claude'), [], HELP)).toBe(false))
})
