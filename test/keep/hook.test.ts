import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { hookCommand } from '../../src/harness/index.ts'
import { readActivity, writeActivity } from '../../src/keep/run-files/activity.ts'
import { leaveNotice } from '../../src/keep/run-files/notices.ts'
import type { ActivityState, HookEvent } from '../../src/model/index.ts'

// Quotes and spaces on the way to everything.
const root = mkdtempSync(join(tmpdir(), "hf hook's "))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const dist = join(root, 'dist')
const script = join(dist, 'hook.sh')
mkdirSync(dist)
copyFileSync('src/keep/scripts/hook.sh', script)
// Stands for Node's part: it says what it was told.
writeFileSync(
  join(dist, 'cli.cjs'),
  `const { appendFileSync, existsSync, readFileSync } = require('node:fs')
process.stdout.write(JSON.stringify([process.argv.slice(2), readFileSync(0, 'utf8')]))
process.exitCode = 3
const tell = () => appendFileSync(process.env.TOLD, process.argv.slice(2).join(' ') + '\\n')
const atGate = () => (existsSync(process.env.GATE) ? tell() : setTimeout(atGate, 20))
if (process.env.TOLD) process.env.GATE ? atGate() : tell()
`,
)

const run = join(root, 'home', 'runs', 'r1')
const fence = join(run, 'retired')
beforeEach(() => {
  rmSync(run, { recursive: true, force: true })
  mkdirSync(run, { recursive: true })
})
// (bash takes a socket on stdin for a remote login, and reads the user's own .bashrc.)
const SHELL_ENV = { HOME: root, SHLVL: '1' }
const INSIDE = { ...SHELL_ENV, HOLDFAST_SESSION: 's1', HOLDFAST_RUN: 'r1', HOLDFAST_FENCE: fence, HOLDFAST_NODE: process.execPath }
/** What Claude Code's daemon gives to the sessions that it runs. */
const SERVED = { ...INSIDE, CLAUDE_JOB_DIR: '/home/dev/.claude/jobs/0a1b2c3d' }
const SHELLS = ['dash', 'bash'].filter((shell) => spawnSync(shell, ['-c', ':']).status === 0)

type Call = { harness?: string; event?: HookEvent; input?: string; env?: Record<string, string>; shell?: string }
function call({ harness = 'claude', event = 'before-tool', input = payload('a'), env = INSIDE, shell = SHELLS[0] ?? 'sh' }: Call = {}) {
  const { status, stdout, stderr } = spawnSync(shell, ['-c', hookCommand(script, harness, event)], {
    input,
    encoding: 'utf8',
    env: { ...SHELL_ENV, PATH: process.env['PATH'] ?? '', ...env },
    timeout: 20_000,
  })
  return { status, stdout, stderr }
}
const payload = (id: string): string => JSON.stringify({ session_id: id, tool_name: 'Bash', tool_input: { command: 'true' } })
const activity = (): string | null => readActivity(join(run, 'activity'))?.state ?? null
const is = (state: ActivityState): void => writeActivity(join(run, 'activity'), state)
const ALLOWED = { status: 0, stdout: '', stderr: '' }
const leave = (topic: string, text: string): void => leaveNotice(join(run, 'notice'), { topic, text })
const retire = (words = '{"end":"superseded","by":"dev@host","reason":"taken over"}'.padEnd(400)): void => writeFileSync(fence, words)

for (const shell of SHELLS)
  describe(shell, () => {
    test('outside a run nothing is said or denied', () => {
      retire()
      for (const event of ['session-start', 'before-tool', 'prompt', 'turn-end', 'waiting', 'session-end'] as const) {
        expect(call({ shell, event, env: {} })).toEqual(ALLOWED)
        expect(call({ shell, event, env: { HOLDFAST_FENCE: '' } })).toEqual(ALLOWED)
        expect(call({ shell, event, env: { HOLDFAST_FENCE: fence } })).toEqual(ALLOWED)
      }
    })

    test('without a fence a tool call is allowed, and nothing is said', () => {
      expect(call({ shell })).toEqual(ALLOWED)
      expect(call({ shell, input: '' })).toEqual(ALLOWED)
    })

    test('a retired agent is denied, and told by whom, why and what next', () => {
      retire()
      const { status, stdout, stderr } = call({ shell })
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
      expect(stderr).toBe(
        'Holdfast: denied. Session s1, which this agent worked for, was taken over by somebody else (by dev@host: taken over), so no tool call of this agent is carried out any more. Stop working now and tell the user. What became of the session: holdfast status s1\n',
      )
    })

    test('a fence that says nothing, or nonsense, denies too', () => {
      for (const words of ['', '\n', 'nonsense', '{"end":"stopped"', '{"by":1,"reason":2}', '\0\0']) {
        retire(words)
        expect(call({ shell }).status, JSON.stringify(words)).toBe(2)
        expect(call({ shell }).stderr, JSON.stringify(words)).toMatch(/^Holdfast: denied\. .* was (retired|stopped), so /)
      }
    })

    test('quotes, backslashes and percent signs in a reason come out as they were', () => {
      const reason = 'he said "no, 100%" \\ `id` $(id) ","reason":" \'x\''
      retire(JSON.stringify({ end: 'stopped', by: 'a "b" \\', reason }))
      expect(call({ shell }).stderr).toContain(`was stopped (by a "b" \\: ${reason}), so`)
      for (const [harness, field] of [
        ['copilot', 'permissionDecisionReason'],
        ['gemini', 'reason'],
      ] as const) {
        const { status, stdout } = call({ shell, harness })
        expect(status).toBe(0)
        const answer = JSON.parse(stdout) as Record<string, string>
        expect(answer[field]).toContain(`(by a "b" \\: ${reason})`)
        expect(answer[harness === 'gemini' ? 'decision' : 'permissionDecision']).toBe('deny')
      }
    })

    test('a session that is proven to be none of this run is not its retired agent', () => {
      retire()
      writeFileSync(join(run, 'native'), 'claude a\ngemini z\nclaude b')
      expect(call({ shell, env: SERVED, input: payload('other') })).toEqual(ALLOWED)
      for (const id of ['a', 'b']) expect(call({ shell, env: SERVED, input: payload(id) }).status, id).toBe(2)
      // Without a daemon it is the agent itself, in a conversation that nobody has heard of, or one that it started.
      expect(call({ shell, input: payload('other') }).status).toBe(2)
      // Where it went although another has it, it is still the one.
      writeFileSync(join(run, 'refused'), 'claude other\n')
      expect(call({ shell, env: SERVED, input: payload('other') }).status).toBe(2)
    })

    test('a session of codex is none of this run if its app server is above, and not because somebody says that word', () => {
      retire()
      writeFileSync(join(run, 'native'), 'codex a\n')
      const line = hookCommand(script, 'codex', 'before-tool')
      const below = (...words: string[]) =>
        spawnSync('bash', ['-c', 'exec -a codex "$0" -c "$@"', shell, `${shell} -c "$HOOK"; exit $?`, ...words], {
          input: payload('other'),
          encoding: 'utf8',
          env: { ...INSIDE, PATH: process.env['PATH'] ?? '', HOOK: line },
        }).status
      expect(below('exec', 'tell me about the app-server please')).toBe(2)
      // A stand-in that is called as the daemon is: `codex app-server …`.
      const daemon = join(root, 'app-server')
      writeFileSync(daemon, `${shell} -c "$HOOK"\nexit $?\n`)
      const served = spawnSync(shell, ['app-server', '--listen'], {
        cwd: root,
        input: payload('other'),
        encoding: 'utf8',
        env: { ...INSIDE, PATH: process.env['PATH'] ?? '', HOOK: line },
      })
      expect(served.status).toBe(0)
    })

    test('the id is the one of the outermost object, wherever it stands', () => {
      retire()
      writeFileSync(join(run, 'native'), 'claude mine\n')
      const denied: readonly string[] = [
        '{"tool_input":{"session_id":"other"},"session_id":"mine"}',
        '{"tool_input":{"a":[{"session_id":"other"}]},"sessionId":"mine"}',
        '{"x":"\\"session_id\\":\\"other\\"","session_id":"mine"}',
        '{"x":"}","y":"{\\\\","session_id" : "mine"}',
        '{\n  "a": "\\\\",\n  "session_id"\n:\n"mine"\n}\n',
        '{"sessionId":"other","session_id":"mine"}',
        `{"content":${JSON.stringify('{"session_id":"other"}'.repeat(2000))},"session_id":"mine"}`,
        // Nobody can say who calls.
        '',
        '{}',
        'nonsense',
        '[{"session_id":"other"}]',
        '{"session_id":7}',
        '{"session_id":null,"x":"other"}',
        '{"session_id":"\\u006dine"}',
        '{"x":"session_id","y":"other"}',
        '{"tool_input":{"session_id":"other"}}',
      ]
      for (const input of denied) expect(call({ shell, env: SERVED, input }).status, input.slice(0, 80)).toBe(2)
      const allowed = ['{"tool_input":{"session_id":"mine"},"session_id":"other"}', '{"x":["{",{}],"sessionId":"other"}']
      for (const input of allowed) expect(call({ shell, env: SERVED, input }), input).toEqual(ALLOWED)
    })

    test('a fence is believed where no id can speak against it', () => {
      retire()
      expect(call({ shell, env: SERVED, input: payload('other') }).status).toBe(2)
      writeFileSync(join(run, 'native'), '')
      expect(call({ shell, env: SERVED, input: payload('other') }).status).toBe(2)
      // Another harness's id is none of this one's.
      writeFileSync(join(run, 'native'), 'codex a\n')
      expect(call({ shell, env: SERVED, input: payload('other') }).status).toBe(2)
      // No daemon of its own serves several sessions.
      writeFileSync(join(run, 'native'), 'qwen a\n')
      expect(call({ shell, env: SERVED, harness: 'qwen', input: payload('other') }).status).toBe(2)
    })

    test('a notice is told once, to the session that it is for', () => {
      const text = 'your id "b" \\ is owned by s2\n\tsay: holdfast status s2'
      writeFileSync(join(run, 'native'), 'claude a\n')
      leave('conflict', text)
      expect(call({ shell, env: SERVED, input: payload('other') })).toEqual(ALLOWED)
      const { status, stdout, stderr } = call({ shell })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      const said = 'Holdfast: your id "b" \\ is owned by s2\nsay: holdfast status s2'
      // It decides nothing: a user who is asked before tool calls is still asked.
      expect(JSON.parse(stdout)).toEqual({ systemMessage: said, hookSpecificOutput: { hookEventName: 'PreToolUse', additionalContext: said } })
      expect(readdirSync(run).filter((name) => name !== 'activity')).toEqual(['native'])
      expect(call({ shell })).toEqual(ALLOWED)
      const answers = { copilot: '{"additionalContext":"Holdfast: hello"}\n', other: '' }
      for (const [harness, answer] of Object.entries(answers)) {
        leave('greeting', 'hello')
        expect(call({ shell, harness })).toEqual({ status: 0, stdout: answer, stderr: answer === '' ? 'Holdfast: hello\n' : '' })
      }
      // An older Holdfast left a file.
      writeFileSync(join(run, 'notice'), 'hello\n')
      expect(call({ shell, harness: 'copilot' }).stdout).toBe(answers.copilot)
      expect(readdirSync(run).filter((name) => name !== 'activity')).toEqual(['native'])
    })

    test('a notice lies until the agent itself calls: not for those inside it, nor for one with a conversation of its own', () => {
      writeFileSync(join(run, 'native'), 'claude a\nclaude b\n')
      writeFileSync(join(run, 'refused'), 'claude c\n')
      leave('messages', '1 message waits')
      const inner = ['{"agent_id":"x1","session_id":"a"}', '{"session_id":"a","tool_input":{"a":[1]},"agent_id" : "\\u0061"}', payload('other')]
      for (const input of inner) expect(call({ shell, input }), input).toEqual(ALLOWED)
      expect(readdirSync(join(run, 'notice'))).toEqual(['messages'])
      // Where nobody can say who calls, it is told rather than kept for good.
      const own = [
        payload('b'),
        payload('c'),
        '',
        'nonsense',
        '{"session_id":7}',
        '{"session_id":"a","agent_id":null}',
        '{"session_id":"a","agent_id":""}',
        '{"session_id":"a","tool_input":{"agent_id":"x"},"x":"agent_id"}',
        '{"session_id":"a","x":"\\"agent_id\\":\\"x\\""}',
      ]
      for (const input of own) {
        leave('messages', '1 message waits')
        expect(JSON.parse(call({ shell, input }).stdout || '{}'), input).toMatchObject({ systemMessage: 'Holdfast: 1 message waits' })
      }
      // A fence is for all that it has started.
      retire()
      for (const input of inner) expect(call({ shell, input }).status, input).toBe(2)
    })

    test('several notices are told together, and where a model hears nothing before a tool they wait for its next prompt', () => {
      for (const [topic, text] of Object.entries({ messages: '2 messages wait', conflict: 'somebody came' })) leave(topic, text)
      for (const harness of ['gemini', 'qwen', 'droid']) expect(call({ shell, harness }), harness).toEqual(ALLOWED)
      expect(JSON.parse(call({ shell, harness: 'copilot' }).stdout)).toEqual({ additionalContext: 'Holdfast: somebody came\n2 messages wait' })
      expect(readdirSync(run).filter((name) => name !== 'activity')).toEqual([])
      // One that was withdrawn in the meantime is none.
      mkdirSync(join(run, 'notice'))
      expect(call({ shell })).toEqual(ALLOWED)
    })

    test('of tool calls at the same time one tells a notice, also when more come in', async () => {
      const line = hookCommand(script, 'copilot', 'before-tool')
      const tell = (): Promise<string> =>
        new Promise((done) => {
          const child = spawn(shell, ['-c', line], { env: { ...INSIDE, PATH: process.env['PATH'] ?? '' }, stdio: ['ignore', 'pipe', 'ignore'] })
          let said = ''
          child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
          child.on('close', () => done(said))
        })
      const calls: Promise<string>[] = []
      for (let round = 0; round < 8; round++) {
        leave('n', `number ${round};`)
        calls.push(tell(), tell(), tell())
        await calls.at(-2)
      }
      const said = (await Promise.all(calls)).join('')
      for (let round = 0; round < 8; round++) expect(said.split(`number ${round};`), said).toHaveLength(2)
      expect(readdirSync(run).filter((name) => name !== 'activity')).toEqual([])
    })

    test('start, prompt and end go to Node with what the harness said, and never fail', () => {
      for (const event of ['session-start', 'prompt', 'session-end'] as const) {
        const { status, stdout } = call({ shell, event, harness: 'codex', input: payload('x') })
        expect(status).toBe(0)
        expect(JSON.parse(stdout)).toEqual([['_hook', 'codex', event], payload('x')])
        expect(call({ shell, event, env: { ...INSIDE, HOLDFAST_NODE: '/nonexistent/node' } })).toEqual(ALLOWED)
      }
    })

    test('a tool call is work, the end of a turn is its end, and a question needs an answer; nothing is said by any of them', () => {
      writeFileSync(join(run, 'native'), 'claude a\n')
      expect(activity()).toBeNull()
      for (const [event, state] of [
        ['before-tool', 'busy'],
        ['waiting', 'waiting'],
        ['before-tool', 'busy'],
        ['turn-end', 'idle'],
        ['before-tool', 'busy'],
      ] as const) {
        expect(call({ shell, event }), event).toEqual(ALLOWED)
        expect(activity(), event).toBe(state)
      }
      expect(statSync(join(run, 'activity')).mode & 0o777).toBe(0o600)
    })

    test('the same again is no change: since when stays', () => {
      for (const [event, state] of [
        ['before-tool', 'busy'],
        ['waiting', 'waiting'],
        ['turn-end', 'idle'],
      ] as const) {
        is(state)
        utimesSync(join(run, 'activity'), 1000, 1000)
        expect(call({ shell, event }), event).toEqual(ALLOWED)
        expect(readActivity(join(run, 'activity')), event).toEqual({ state, since: 1_000_000 })
      }
    })

    test('who is inside of it, or another agent, does not speak for it', () => {
      writeFileSync(join(run, 'native'), 'claude a\n')
      const inner = '{"agent_id":"x1","session_id":"a"}'
      for (const state of ['waiting', 'idle', 'busy'] as const) {
        is(state)
        for (const event of ['before-tool', 'turn-end'] as const) {
          expect(call({ shell, event, input: payload('other') }), event).toEqual(ALLOWED)
          // Of another harness nothing is known here, whatever its id.
          expect(call({ shell, event, harness: 'codex' })).toEqual(ALLOWED)
          if (state !== 'waiting' || event === 'turn-end') expect(call({ shell, event, input: inner }), event).toEqual(ALLOWED)
        }
        expect(activity()).toBe(state)
      }
      for (const input of [payload('other'), '{"session_id":"other","agent_id":"x"}']) call({ shell, event: 'waiting', input })
      call({ shell, event: 'waiting', harness: 'codex' })
      expect(activity()).toBe('busy')
      // But the question of one inside is asked of the same person.
      call({ shell, event: 'waiting', input: inner })
      expect(activity()).toBe('waiting')
      // And once it goes on, it was answered.
      expect(call({ shell, event: 'before-tool', input: inner })).toEqual(ALLOWED)
      expect(activity()).toBe('busy')
    })

    test('whose turn is over is not waiting because nobody says anything; and what grok calls is not known', () => {
      is('idle')
      call({ shell, event: 'waiting', harness: 'droid' })
      expect(activity()).toBe('idle')
      is('busy')
      call({ shell, event: 'waiting', env: { ...INSIDE, GROK_HOOK_EVENT: 'notification' } })
      expect(activity()).toBe('busy')
    })

    test('a change is told to Node, once: at the end of a turn before the hook ends, and of a question without making it wait', async () => {
      const told = join(root, `told-${shell}`)
      const env = { ...INSIDE, TOLD: told }
      is('busy')
      for (let again = 0; again < 2; again++) expect(call({ shell, event: 'turn-end', env })).toEqual(ALLOWED)
      expect(readFileSync(told, 'utf8')).toBe('_hook claude turn-end\n')
      is('busy')
      // Node does its part only when this is there: a hook that waited for it would not end before Node is given up.
      const gate = join(root, `gate-${shell}`)
      for (let again = 0; again < 2; again++) expect(call({ shell, event: 'waiting', env: { ...env, GATE: gate } })).toEqual(ALLOWED)
      writeFileSync(gate, '')
      await expect.poll(() => readFileSync(told, 'utf8'), { timeout: 15_000 }).toBe('_hook claude turn-end\n_hook claude waiting\n')
    })

    test('what is nonsense on file, or cannot be written, holds up nobody', () => {
      for (const text of ['', 'x', '1 asleep \n', '\0\0\0']) {
        writeFileSync(join(run, 'activity'), text)
        expect(activity()).toBeNull()
        expect(call({ shell })).toEqual(ALLOWED)
        expect(activity(), JSON.stringify(text)).toBe('busy')
      }
      rmSync(join(run, 'activity'))
      mkdirSync(join(run, 'activity'))
      for (const event of ['before-tool', 'turn-end', 'waiting'] as const) expect(call({ shell, event })).toEqual(ALLOWED)
    })

    test("grok, which runs Claude's hooks too, is taken for itself", () => {
      const { stdout } = call({ shell, event: 'session-start', env: { ...INSIDE, GROK_HOOK_EVENT: 'session_start' } })
      expect(JSON.parse(stdout)).toEqual([['_hook', 'grok', 'session-start'], payload('a')])
    })

    test('a Holdfast that is no longer there allows everything', () => {
      retire()
      const line = hookCommand(join(root, 'gone', 'hook.sh'), 'claude', 'before-tool')
      expect(spawnSync(shell, ['-c', line], { env: INSIDE, encoding: 'utf8' })).toMatchObject(ALLOWED)
    })
  })

test('an allowed call starts no process and costs little more than a shell', () => {
  const time = (line: string): number => {
    const times = Array.from({ length: 60 }, () => {
      const start = process.hrtime.bigint()
      spawnSync('sh', ['-c', line], { env: INSIDE, stdio: ['ignore', 'ignore', 'ignore'] })
      return Number(process.hrtime.bigint() - start)
    }).toSorted((a, b) => a - b)
    return times[Math.floor(times.length / 4)] ?? 0
  }
  const line = hookCommand(script, 'claude', 'before-tool')
  time(':')
  const ratios = Array.from({ length: 3 }, () => time(line) / time(':'))
  expect(Math.min(...ratios)).toBeLessThanOrEqual(3)
  // With no program to be found, nothing can be started.
  const { status, stderr } = spawnSync('/bin/sh', ['-c', line], { env: { ...INSIDE, PATH: '/nonexistent' }, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

test('a fence denies even where no other program can be found', () => {
  retire()
  writeFileSync(join(run, 'native'), 'claude a\n')
  const { status, stderr } = spawnSync('/bin/sh', ['-c', hookCommand(script, 'claude', 'before-tool')], {
    env: { ...INSIDE, PATH: '/nonexistent' },
    input: payload('a'),
    encoding: 'utf8',
  })
  expect(status).toBe(2)
  expect(stderr).toContain('Holdfast: denied.')
})
