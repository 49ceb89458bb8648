import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { hookTexts } from '../../src/app/hooks/hook-texts.ts'
import { hookCommand } from '../../src/harness/index.ts'
import { layHookFiles, renderDenials } from '../../src/keep/hooks/hook-files.ts'
import { readActivity, writeActivity } from '../../src/keep/run-files/activity.ts'
import { leaveNotice } from '../../src/keep/run-files/notices.ts'
import type { ActivityState, HookEvent, Intent } from '../../src/model/index.ts'

// Quotes and spaces on the way to everything.
const root = mkdtempSync(join(tmpdir(), "hf hook's "))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const dist = join(root, 'dist')
const script = join(dist, 'hook.sh')
mkdirSync(dist)
copyFileSync('src/keep/scripts/hook.sh', script)
copyFileSync('dist/hook.cjs', join(dist, 'hook.cjs'))
// Stands for Node's part: it says what it was told, and leaves with STATUS.
const standIn = join(root, 'stand-in', 'hook.sh')
mkdirSync(join(root, 'stand-in'))
copyFileSync('src/keep/scripts/hook.sh', standIn)
writeFileSync(
  join(root, 'stand-in', 'hook.cjs'),
  `const { appendFileSync, existsSync, readFileSync } = require('node:fs')
process.stdout.write(JSON.stringify([process.argv.slice(2), readFileSync(0, 'utf8')]))
process.exitCode = Number(process.env.STATUS ?? 1)
const tell = () => appendFileSync(process.env.TOLD, process.argv.slice(2).join(' ') + '\\n')
const atGate = () => (existsSync(process.env.GATE) ? tell() : setTimeout(atGate, 20))
if (process.env.TOLD) process.env.GATE && process.argv[3] === 'record' ? atGate() : tell()
`,
)

const run = join(root, 'home', 'runs', 'r1')
const fence = join(run, 'retired')
beforeEach(() => {
  rmSync(run, { recursive: true, force: true })
  mkdirSync(run, { recursive: true })
  writeFileSync(join(root, 'home', 'install'), '7a0d3c1e-0c7f-4a34-9b0e-2d1f5c9a8b11\n')
  layHookFiles(run, hookTexts, 's1')
})
/** What lies in the run directory besides what is there from the start. */
const left = (): string[] => readdirSync(run).filter((name) => !/^(activity|facts|denial.*)$/.test(name))
// (bash takes a socket on stdin for a remote login, and reads the user's own .bashrc.)
const SHELL_ENV = { HOME: root, SHLVL: '1' }
const INSIDE = {
  ...SHELL_ENV,
  HOLDFAST_SESSION: 's1',
  HOLDFAST_RUN: 'r1',
  HOLDFAST_FENCE: fence,
  HOLDFAST_NODE: process.execPath,
  HOLDFAST_DIST: dist,
}
/** What Claude Code's daemon gives to the sessions that it runs. */
const SERVED = { ...INSIDE, CLAUDE_JOB_DIR: '/home/dev/.claude/jobs/0a1b2c3d' }
const SHELLS = ['dash', 'bash'].filter((shell) => spawnSync(shell, ['-c', ':']).status === 0)

type Call = { harness?: string; event?: HookEvent; input?: string; env?: Record<string, string>; shell?: string; path?: string }
function call({
  harness = 'claude',
  event = 'before-tool',
  input = payload('a'),
  env = INSIDE,
  shell = SHELLS[0] ?? 'sh',
  path = script,
}: Call = {}) {
  const { status, stdout, stderr } = spawnSync(shell, ['-c', hookCommand(path, harness, event)], {
    input,
    encoding: 'utf8',
    env: { ...SHELL_ENV, PATH: process.env['PATH'] ?? '', ...env },
    timeout: 120_000,
  })
  return { status, stdout, stderr }
}
const payload = (id: string): string => JSON.stringify({ session_id: id, tool_name: 'Bash', tool_input: { command: 'true' } })
const activity = (): string | null => readActivity(join(run, 'activity'))?.state ?? null
const is = (state: ActivityState): void => writeActivity(join(run, 'activity'), state)
const ALLOWED = { status: 0, stdout: '', stderr: '' }
const leave = (topic: string, text: string): void => leaveNotice(join(run, 'notice'), { topic, text })
/** As `files.retire` does it. Null: a bare fence, as on a full disk. */
function retire(intent: Intent | null = { end: 'superseded', by: 'dev@host', reason: 'taken over' }): void {
  if (intent !== null) renderDenials(run, hookTexts, 's1', intent)
  writeFileSync(fence, JSON.stringify(intent ?? ''))
}

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
        'Holdfast: denied. Session s1, which this agent worked for, was taken over by somebody else (by dev@host: taken over), so no tool call of this agent is carried out any more. Stop working now and tell the user. To see the session: holdfast status s1\n',
      )
    })

    test('on a full disk the denial from the start is printed, in the form of each harness; without any, a short sentence', () => {
      retire(null)
      expect(call({ shell }).stderr).toMatch(/^Holdfast: denied\. Session s1, .* was retired, so no tool call/)
      expect(JSON.parse(call({ shell, harness: 'gemini' }).stdout)).toMatchObject({ decision: 'deny' })
      expect(JSON.parse(call({ shell, harness: 'copilot' }).stdout)).toMatchObject({ permissionDecision: 'deny' })
      for (const name of readdirSync(run)) if (name.startsWith('denial')) writeFileSync(join(run, name), '')
      const short = { status: 2, stdout: '', stderr: 'Holdfast: denied. This agent was retired. Stop working now and tell the user.\n' }
      expect(call({ shell })).toEqual(short)
      for (const name of readdirSync(run)) if (name.startsWith('denial')) rmSync(join(run, name))
      expect(call({ shell })).toEqual(short)
      for (const name of ['denial', 'denial.gemini']) mkdirSync(join(run, name))
      expect(call({ shell })).toEqual(short)
      // Those that take status 2 for a hook that failed are denied in their own form all the same.
      for (const [harness, denied] of [
        ['gemini', { decision: 'deny' }],
        ['copilot', { permissionDecision: 'deny' }],
      ] as const) {
        const { status, stdout } = call({ shell, harness })
        expect({ status, said: JSON.parse(stdout) as unknown }, harness).toMatchObject({ status: 0, said: denied })
      }
    })

    test('quotes, backslashes and percent signs in a reason come out as they were, on one line', () => {
      const reason = 'he said "no, 100%" \\ `id` $(id) ","reason":" \'x\''
      retire({ end: 'stopped', by: 'a "b" \\', reason: `${reason}\n\tand more` })
      expect(call({ shell }).stderr).toContain(`was stopped (by a "b" \\: ${reason} and more), so`)
      for (const [harness, field] of [
        ['copilot', 'permissionDecisionReason'],
        ['gemini', 'reason'],
      ] as const) {
        const { status, stdout } = call({ shell, harness })
        expect(status).toBe(0)
        const answer = JSON.parse(stdout) as Record<string, string>
        expect(answer[field]).toContain(`(by a "b" \\: ${reason} and more)`)
        expect(answer[harness === 'gemini' ? 'decision' : 'permissionDecision']).toBe('deny')
      }
    })

    test('a denied call starts no Node, unless a shared daemon may make it; and Node must prove that it is a stranger', () => {
      retire()
      const told = join(root, `asked-${shell}`)
      const ask = (more: Record<string, string>) =>
        call({ shell, path: standIn, env: { ...INSIDE, HOLDFAST_DIST: join(root, 'stand-in'), TOLD: told, ...more } }).status
      expect(ask({ STATUS: '3' })).toBe(2)
      expect(existsSync(told)).toBe(false)
      for (const status of ['0', '1', '2', '4', '70']) expect(ask({ STATUS: status, CLAUDE_JOB_DIR: '/j' }), status).toBe(2)
      expect(ask({ STATUS: '3', CLAUDE_JOB_DIR: '/j' })).toBe(0)
      expect(readFileSync(told, 'utf8')).toBe('claude before-tool\n'.repeat(6))
      // Without the facts it may be one.
      rmSync(join(run, 'facts'))
      expect(ask({ STATUS: '3' })).toBe(0)
      // The script finds Node's part beside itself, and another Node on PATH.
      for (const more of [{ HOLDFAST_DIST: '/nonexistent' }, { HOLDFAST_DIST: '' }, { HOLDFAST_NODE: '/nonexistent/node' }])
        expect(ask({ STATUS: '3', CLAUDE_JOB_DIR: '/j', ...more }), JSON.stringify(more)).toBe(0)
      // Without any Node nothing is proven, and the fence stands.
      const bare = join(root, `bare-${shell}`)
      mkdirSync(bare, { recursive: true })
      symlinkSync(execFileSync('sh', ['-c', `command -v ${shell}`], { encoding: 'utf8' }).trim(), join(bare, shell))
      expect(ask({ STATUS: '3', CLAUDE_JOB_DIR: '/j', HOLDFAST_NODE: '/nonexistent/node', PATH: bare })).toBe(2)
    })

    test('a run of an older Holdfast, whose directory and environment know less, is served all the same', () => {
      for (const name of readdirSync(run)) if (/^(facts|denial)/.test(name)) rmSync(join(run, name))
      const { HOLDFAST_DIST: _, ...older } = SERVED
      writeActivity(join(run, 'activity'), 'waiting')
      leaveNotice(join(run, 'notice'), { topic: 'x', text: 'a word' })
      writeFileSync(join(run, 'native'), 'claude a\n')
      expect(call({ shell, env: older }).stdout).toContain('Holdfast: a word')
      expect(readActivity(join(run, 'activity'))?.state).toBe('busy')
      retire(null)
      for (const name of readdirSync(run)) if (name.startsWith('denial')) rmSync(join(run, name))
      expect(call({ shell, env: older, input: payload('other') })).toEqual(ALLOWED)
      expect(call({ shell, env: older, input: payload('a') }).status).toBe(2)
      expect(call({ shell, env: { ...older, HOLDFAST_HOME: join(root, 'other-home') }, input: payload('other') })).toEqual(ALLOWED)
    })

    test('a fence that falls while Node works denies that very call', () => {
      const slow = join(root, `slow-${shell}`)
      writeFileSync(slow, `#!/bin/sh\n: >"$HOLDFAST_FENCE"\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 })
      writeActivity(join(run, 'activity'), 'idle')
      leaveNotice(join(run, 'notice'), { topic: 'x', text: 'a word' })
      const { status, stdout } = call({ shell, env: { ...INSIDE, HOLDFAST_NODE: slow } })
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
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

    test('the id is the one of the outermost object, and a payload that says none is denied', () => {
      retire()
      writeFileSync(join(run, 'native'), 'claude mine\n')
      const content = JSON.stringify('{"session_id":"other"}'.repeat(2000))
      for (const input of [`{"content":${content},"tool_input":{"session_id":"other"},"session_id":"mine"}`, '', 'nonsense', '\0'])
        expect(call({ shell, env: SERVED, input }).status, input.slice(0, 80)).toBe(2)
      expect(call({ shell, env: SERVED, input: '{"tool_input":{"session_id":"mine"},"session_id":"other"}' })).toEqual(ALLOWED)
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
      const said = 'Holdfast: your id "b" \\ is owned by s2\n·say: holdfast status s2'
      // It decides nothing: a user who is asked before tool calls is still asked.
      expect(JSON.parse(stdout)).toEqual({ systemMessage: said, hookSpecificOutput: { hookEventName: 'PreToolUse', additionalContext: said } })
      expect(left()).toEqual(['native'])
      expect(call({ shell })).toEqual(ALLOWED)
      const answers = { copilot: '{"additionalContext":"Holdfast: hello"}\n', other: '' }
      for (const [harness, answer] of Object.entries(answers)) {
        leave('greeting', 'hello')
        expect(call({ shell, harness })).toEqual({ status: 0, stdout: answer, stderr: answer === '' ? 'Holdfast: hello\n' : '' })
      }
      // An older Holdfast left a file.
      writeFileSync(join(run, 'notice'), 'hello\n')
      expect(call({ shell, harness: 'copilot' }).stdout).toBe(answers.copilot)
      expect(left()).toEqual(['native'])
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
        '{"session_id":"a","agent_id":""}',
        '{"session_id":"a","tool_input":{"agent_id":"x"},"x":"agent_id"}',
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
      for (const harness of ['gemini', 'qwen', 'droid', 'opencode', 'kilo']) expect(call({ shell, harness }), harness).toEqual(ALLOWED)
      expect(JSON.parse(call({ shell, harness: 'copilot' }).stdout)).toEqual({ additionalContext: 'Holdfast: somebody came\n2 messages wait' })
      expect(left()).toEqual([])
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
      expect(left()).toEqual([])
    })

    test('start, prompt and end go to Node with what the harness said, and never fail', () => {
      for (const event of ['session-start', 'prompt', 'session-end'] as const) {
        const { status, stdout } = call({ shell, event, harness: 'codex', input: payload('x'), path: standIn })
        expect(status).toBe(0)
        expect(JSON.parse(stdout)).toEqual([['codex', event], payload('x')])
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

    test('a question waits for the file to say so, and not for the record; what changes nothing starts no Node', async () => {
      const told = join(root, `told-${shell}`)
      // Node puts it on record only when this is there: a hook that waited for it would not end before Node is given up.
      const gate = join(root, `gate-${shell}`)
      const env = { ...INSIDE, TOLD: told, GATE: gate, STATUS: '4' }
      is('busy')
      expect(call({ shell, event: 'waiting', env, path: standIn })).toEqual(ALLOWED)
      expect(readFileSync(told, 'utf8')).toBe('claude waiting\n')
      writeFileSync(gate, '')
      await expect.poll(() => readFileSync(told, 'utf8'), { timeout: 120_000 }).toBe('claude waiting\nclaude record\n')
      for (const [event, state] of [
        ['waiting', 'waiting'],
        ['waiting', 'idle'],
        ['turn-end', 'idle'],
        ['before-tool', 'busy'],
      ] as const) {
        is(state)
        expect(call({ shell, event, env, path: standIn }), event).toEqual(ALLOWED)
      }
      expect(readFileSync(told, 'utf8')).toBe('claude waiting\nclaude record\n')
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
      // A conversation of Claude's with this id is none of grok's.
      writeFileSync(join(run, 'native'), 'claude a\n')
      const env = { ...INSIDE, GROK_HOOK_EVENT: 'pre_tool_use' }
      call({ shell, env })
      expect(activity()).toBeNull()
      writeFileSync(join(run, 'native'), 'grok a\n')
      call({ shell, env })
      expect(activity()).toBe('busy')
    })

    test('a payload that is garbage, long, or missing holds up nobody', () => {
      for (const input of ['\xff\xfe{', '['.repeat(1000), `{"session_id":"a","x":"${'y'.repeat(5 * 1024 * 1024)}"}`]) {
        rmSync(join(run, 'activity'), { force: true })
        expect(call({ shell, input })).toEqual(ALLOWED)
        expect(activity(), input.slice(0, 40)).toBe('busy')
      }
      const line = hookCommand(script, 'claude', 'turn-end')
      for (const from of ['<&-', '</dev/null']) {
        is('busy')
        const { status, stderr } = spawnSync(shell, ['-c', `{ ${line}; } ${from}`], {
          env: { ...INSIDE, PATH: process.env['PATH'] ?? '' },
          encoding: 'utf8',
        })
        expect({ status, stderr }, from).toEqual({ status: 0, stderr: '' })
        expect(activity(), from).toBe('idle')
      }
    })

    test('a run directory or home that is gone allows everything, and nothing is made again', () => {
      rmSync(join(root, 'home'), { recursive: true })
      for (const event of ['session-start', 'before-tool', 'prompt', 'turn-end', 'waiting', 'session-end'] as const)
        expect(call({ shell, event }), event).toEqual(ALLOWED)
      expect(existsSync(join(root, 'home'))).toBe(false)
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
  is('busy')
  time(':')
  // The best of several: a busy machine makes one slower, and none quicker.
  let ratio = time(line) / time(':')
  for (let tries = 0; tries < 9 && ratio > 3; tries++) ratio = Math.min(ratio, time(line) / time(':'))
  expect(ratio).toBeLessThanOrEqual(3)
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
