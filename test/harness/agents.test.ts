import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { agentsAmong, commandOf, mayBeAgent, registeredAgents } from '../../src/harness/index.ts'
import type { Candidate, ProcessRow, Registered } from '../../src/model/index.ts'
import { row } from '../decide/build.ts'

const anybody = (): boolean => true
const UUID = '0198c2f4-1b2c-7d3e-8f40-0123456789ab'
const OTHER = '11111111-2222-4333-8444-555555555555'
const VERSIONED = '/home/a/.local/share/claude/versions/2.1.325'
const NODE = '/usr/bin/node'
const MODULES = '/usr/lib/node_modules'
const NATIVE_CODEX = `${MODULES}/@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex`

/** A command line as it is typed; no word of these has a space. */
const candidate = (exe: string | null, line: string | readonly string[], over: Partial<Candidate> = {}): Candidate => ({
  row: row(500),
  exe,
  argv: typeof line === 'string' ? line.split(' ') : line,
  cwd: '/w',
  ...over,
})
const child = (pid: number, parent: number, exe: string | null, line: string, over: Partial<ProcessRow> = {}): Candidate =>
  candidate(exe, line, { row: row(pid, { parent, ...over }) })
const harnessOf = (one: Candidate, registered: readonly Registered[] = []): string | undefined => agentsAmong([one], registered)[0]?.harness
const idOf = (exe: string, line: string): string | null | undefined => agentsAmong([candidate(exe, line)], [])[0]?.named
/** Who was found, and by whom each was launched. */
const folded = (...all: readonly Candidate[]) => agentsAmong(all, []).map(({ row: { pid }, launchers }) => [pid, launchers.map((one) => one.pid)])
const entry = (over: Partial<Registered> = {}): Registered => ({
  harness: 'claude',
  process: { pid: 500, ticks: 5000 },
  cwd: '/registered',
  nativeId: UUID,
  service: false,
  ...over,
})

describe('names that are worth a look', () => {
  test.each(
    'claude claude.exe .claude-wrapped codex codex-x86_64-un gemini node nodejs MainThread node-MainThread bun python python3 python3.12 aider'
      .concat(
        ' opencode .opencode kilo goose droid grok cline copilot pi kimi kimi-code qwen cn amp auggie cursor-agent coder code-x86_64-unk 2.1.325',
      )
      .split(' '),
  )('%s', (name) => expect(mayBeAgent(name)).toBe(true))
  test.each('bash sh vim sleep code code-insiders code-server nodemon claude-desktop pip pipewire git 2.1 cat pythonista bunx'.split(' '))(
    'not %s',
    (name) => expect(mayBeAgent(name)).toBe(false),
  )
})

describe('an agent', () => {
  test.each<[string, string | null, string | readonly string[]]>([
    ['claude', VERSIONED, 'claude'],
    ['claude', VERSIONED, `${VERSIONED} -p hello`],
    ['claude', `${VERSIONED} (deleted)`, 'cc --continue'],
    ['claude', `${MODULES}/@anthropic-ai/claude-code/bin/claude.exe`, 'claude -c'],
    ['claude', null, '/opt/claude --bg'],
    ['claude', NODE, `node ${MODULES}/@anthropic-ai/claude-code/cli.js -p hello`],
    ['claude', NODE, ['claude', '', '', '']],
    ['claude', '/nix/store/x/bin/.claude-wrapped', 'claude'],
    ['claude', null, ['/home/my user/bin/claude', '-p', 'daemon run']],
    ['claude', '/usr/bin/dash', '/bin/sh /x/bin/claude -p x'],
    ['claude', '/usr/bin/bash', 'bash /x/bin/claude'],
    ['claude', '/usr/bin/bash', 'bash -e -o pipefail /x/bin/claude'],
    ['claude', '/usr/bin/env', '/usr/bin/env A=1 claude'],
    ['codex', NATIVE_CODEX, `${NATIVE_CODEX} exec --json x`],
    ['codex', '/opt/codex-x86_64-unknown-linux-musl', 'codex'],
    ['aider', '/usr/bin/python3', '/usr/bin/python3 /usr/bin/aider -v'],
    ['codex', NODE, `node ${MODULES}/@openai/codex/bin/codex.js`],
    ['code', `${MODULES}/x/code-x86_64-unknown-linux-musl`, 'code exec x'],
    ['code', NODE, `node ${MODULES}/@just-every/code/coder.js`],
    ['gemini', NODE, 'node --no-warnings=DEP0040 /x/bin/gemini -p x'],
    ['gemini', NODE, `${NODE} --max-old-space-size=4000 ${MODULES}/@google/gemini-cli/bundle/gemini.js`],
    ['gemini', NODE, 'node -r /x/claude --import tsx /x/bin/gemini'],
    ['gemini', '/usr/bin/bun', 'bun run /x/bin/gemini'],
    ['qwen', NODE, `node --expose-gc ${MODULES}/@qwen-code/qwen-code/dist/cli.js -p x`],
    ['opencode', `${MODULES}/opencode-linux-x64/bin/opencode`, 'opencode run x'],
    ['opencode', `${MODULES}/opencode-ai/bin/.opencode`, '/x/.opencode'],
    ['kilo', '/x/kilo', 'kilo run x'],
    ['copilot', '/x/copilot', 'copilot -p x'],
    ['copilot', NODE, `node ${MODULES}/@github/copilot/index.js`],
    ['pi', NODE, ['pi', '', '']],
    ['pi', '/x/bin/pi', '/x/bin/pi -p x'],
    ['pi', NODE, `node ${MODULES}/@earendil-works/pi-coding-agent/dist/cli.js`],
    ['kimi', NODE, ['kimi-code', '', '']],
    ['goose', '/x/goose', 'goose session'],
    ['droid', '/x/droid', 'droid exec x'],
    ['cline', '/x/cline', 'cline --json x'],
    ['cn', NODE, 'node /x/bin/cn -p x'],
    ['grok', '/x/grok', 'grok -p x'],
    ['amp', '/x/amp', 'amp'],
    ['auggie', NODE, 'node /x/bin/auggie'],
    ['cursor-agent', '/h/cursor-agent/versions/1/node', '/h/bin/agent --use-system-ca /h/cursor-agent/versions/1/index.js -p x'],
    ['cursor-agent', '/h/cursor-agent/versions/1/node', '/h/bin/cursor-agent'],
    ['aider', '/usr/bin/python3.12', '/x/venv/bin/python /home/a/.local/bin/aider --yes-always'],
    ['aider', '/usr/bin/python3.12', 'python3 -W ignore -m aider'],
  ])('%s: %s %j', (harness, exe, line) => expect(harnessOf(candidate(exe, line))).toBe(harness))

  test('by a title that the kernel’s own name confirms: of a link to another name, and of a runtime', () => {
    const named = { row: row(500, { name: 'droid' }) }
    expect(harnessOf(candidate('/opt/droid-linux-x64', 'droid exec x', named))).toBe('droid')
    expect(harnessOf(candidate(NODE, ['claude', '--resume'], { row: row(500, { name: 'claude' }) }))).toBe('claude')
  })

  test('of a runtime, by the name that it gave itself', () => {
    expect(harnessOf(candidate(NODE, 'node /x/bin/pi', { row: row(500, { name: 'pi' }) }))).toBe('pi')
    expect(harnessOf(candidate('/usr/bin/python3', 'python3 /x/bin/pi', { row: row(500, { name: 'pi' }) }))).toBeUndefined()
  })
})

describe('no agent', () => {
  test.each<[string | null, string | readonly string[]]>([
    ['/usr/bin/vim', 'vim claude'],
    ['/usr/bin/grep', 'grep codex'],
    ['/usr/bin/tail', 'tail -f /x/claude.log'],
    ['/usr/bin/bash', 'bash -c claude'],
    ['/usr/bin/bash', 'bash -lc claude'],
    ['/usr/bin/bash', 'bash'],
    ['/usr/bin/cat', 'cat claude'],
    ['/usr/bin/less', 'less /x/claude'],
    ['/usr/bin/bash', 'bash /x/claude.sh'],
    [NODE, 'node -e claude'],
    [NODE, 'node /x/server.js claude'],
    [NODE, 'node -r /x/bin/claude /x/server.js'],
    [NODE, `node ${MODULES}/@google/gemini-cli/node_modules/some-server/index.js`],
    [NODE, ['npm exec @openai/codex']],
    [NODE, 'node'],
    [NODE, 'node /x/bin/pi'],
    [null, 'pi'],
    [null, []],
    ['/usr/bin/sleep', 'pi 100'],
    ['/usr/bin/python3', 'python3 -c aider'],
    ['/usr/share/code/code', '/usr/share/code/code --type=renderer'],
    ['/usr/bin/code', 'code .'],
    ['/usr/lib/code-server', 'code-server'],
    ['/usr/bin/tmux', 'tmux new claude'],
    // A title alone, which anybody can give to anything.
    ['/usr/bin/sleep', 'claude 1000'],
    ['/usr/bin/sleep', ['codex', '1000']],
    ['/usr/bin/sleep', ['claude']],
    ['/usr/bin/sleep', ['claude --resume x', '1000']],
    ['/usr/bin/sleep', 'claude --resume x'],
    [NODE, ['claude', '/x/server.js']],
    [NODE, ['gemini']],
    [NODE, ['pi', '/x/server.js']],
    ['/usr/bin/python3.12', ['aider', '/x/server.py']],
    // The agent's own executable, as a tool of its own.
    [VERSIONED, 'rg --files'],
    [NATIVE_CODEX, '/h/.codex/tmp/codex-linux-sandbox -- ls'],
  ])('%s %j', (exe, line) => expect(agentsAmong([candidate(exe, line)], [])).toEqual([]))

  test('nor another program behind a link, or with a kernel name of its own choice', () => {
    const named = (name: string) => ({ row: row(500, { name }) })
    expect(harnessOf(candidate('/usr/bin/sleep', 'claude --resume x', named('claude')))).toBeUndefined()
    expect(harnessOf(candidate('/usr/bin/vim', 'codex', named('codex')))).toBeUndefined()
    expect(harnessOf(candidate('/usr/bin/python3', 'aider --yes', named('aider')))).toBe('aider')
  })

  test('nor one that has ended', () => {
    expect(harnessOf(candidate(VERSIONED, 'claude', { row: row(500, { state: 'Z' }) }), [entry()])).toBeUndefined()
  })
})

describe('infrastructure is no agent', () => {
  test.each<[string, string]>([
    [VERSIONED, 'claude daemon run --origin transient'],
    [VERSIONED, 'claude bg-pty-host --bg-pty-host /s 200 50 -- claude --bg-spare /c'],
    [VERSIONED, 'claude --bg-pty-host /s'],
    [VERSIONED, 'claude mcp serve'],
    [VERSIONED, 'claude agents --json'],
    [VERSIONED, 'claude attach 7a607dd8'],
    [NATIVE_CODEX, 'codex app-server --listen unix:// --managed-daemon'],
    [NATIVE_CODEX, 'codex -c model=x --config=a=b app-server'],
    [NATIVE_CODEX, 'codex mcp-server'],
    [NATIVE_CODEX, 'codex mcp list'],
    [NODE, `node ${MODULES}/holdfast/bin/../dist/cli.cjs mcp`],
    [NODE, `node ${MODULES}/holdfast/bin/../dist/cli.cjs mcp --home /home/a/.local/state/holdfast`],
    [NODE, `node ${MODULES}/@openai/codex/bin/codex.js app-server`],
    ['/x/opencode', 'opencode serve --port 1'],
    ['/x/opencode', 'opencode acp'],
    ['/x/opencode', 'opencode web'],
    ['/x/kilo', 'kilo serve'],
    ['/x/kilo', 'kilo acp'],
    ['/x/kilo', 'kilo daemon'],
    ['/x/cline', 'cline --cline-hub-daemon --cwd /w'],
    [NODE, '/h/bin/cursor-agent worker'],
    ['/x/coder', 'coder agent'],
    ...'--version -v --help login logout update doctor agents attach logs completion'
      .split(' ')
      .map((verb): [string, string] => ['/x/grok', `grok ${verb}`]),
  ])('%s %s', (exe, line) => expect(harnessOf(candidate(exe, line))).toBeUndefined())

  test('a word that only a prompt has in common with it is no matter', () => {
    expect(harnessOf(candidate(VERSIONED, 'claude -p daemon'))).toBe('claude')
    expect(harnessOf(candidate(NATIVE_CODEX, 'codex exec app-server'))).toBe('codex')
  })
  test.each([
    [['claude', 'bg-spare', '--bg-spare', '/c.sock']],
    [['claude bg-spare', '--bg-spare', '/c.sock']],
    [['/x/claude', '--bg-spare', '/c.sock']],
  ])("Claude Code's spare %j is none until it is claimed", (argv) => {
    expect(harnessOf(candidate(VERSIONED, argv, { cwd: '/tmp/cc-daemon-0/0123abcd/spare' }))).toBeUndefined()
    expect(harnessOf(candidate(VERSIONED, argv, { cwd: '/tmp/cc-daemon-0/0123abcd/spare/1' }))).toBeUndefined()
    expect(harnessOf(candidate(VERSIONED, argv, { cwd: '/w/spare' }))).toBe('claude')
    expect(harnessOf(candidate(VERSIONED, argv, { cwd: null }), [entry({ cwd: '/w' })])).toBe('claude')
  })
  test('whoever works in the folder of the spares is not one for that', () => {
    expect(harnessOf(candidate(VERSIONED, 'claude', { cwd: '/tmp/cc-daemon-0/0123abcd/spare' }))).toBe('claude')
  })
})

describe('launchers', () => {
  const launcher = `node ${MODULES}/@openai/codex/bin/codex.js exec --json x`
  test('codex: the node that started it, and what it started', () => {
    expect(folded(child(10, 1, NODE, launcher), child(11, 10, NATIVE_CODEX, `${NATIVE_CODEX} exec --json x`))).toEqual([[11, [10]]])
  })
  test('gemini: the innermost of three, in whatever order they are seen', () => {
    const three = [
      child(10, 1, NODE, 'node /x/bin/gemini -p x'),
      child(11, 10, NODE, `${NODE} --max-old-space-size=9 /x/bin/gemini -p x`),
      child(12, 11, NODE, `${NODE} --expose-gc ${MODULES}/@google/gemini-cli/dist/index.js -p x`),
    ]
    expect(folded(...three)).toEqual([[12, [10, 11]]])
    expect(folded(...three.toReversed())).toEqual([[12, [10, 11]]])
  })
  test('a script that is called as the agent', () => {
    expect(folded(child(10, 1, '/usr/bin/dash', '/bin/sh /x/bin/claude -c'), child(11, 10, VERSIONED, 'claude -c'))).toEqual([[11, [10]]])
  })
  test('an agent in an agent stays one', () => {
    expect(folded(child(10, 1, VERSIONED, 'claude'), child(11, 10, VERSIONED, 'claude -p x'))).toEqual([
      [10, []],
      [11, []],
    ])
    expect(folded(child(10, 1, VERSIONED, 'claude -p'), child(11, 10, NATIVE_CODEX, 'codex -p'))).toHaveLength(2)
    const shell = child(11, 10, '/usr/bin/bash', 'bash -c x')
    expect(folded(child(10, 1, VERSIONED, 'claude'), shell, child(12, 11, VERSIONED, 'claude'))).toHaveLength(2)
  })
  test('our own MCP server below an agent is none, and launches none', () => {
    const server = child(12, 11, NODE, `node ${MODULES}/holdfast/dist/cli.cjs mcp`)
    const shell = child(11, 10, '/usr/bin/dash', 'sh -c holdfast mcp')
    expect(folded(child(10, 1, VERSIONED, 'claude'), shell, server)).toEqual([[10, []]])
    const beyond = child(13, 12, VERSIONED, 'claude -p x')
    expect(folded(server, beyond)).toEqual([[13, []]])
  })
  test('words are compared, not the text that they make', () => {
    const parent = candidate(VERSIONED, ['claude', '-p', 'a b'], { row: row(10) })
    expect(folded(parent, child(11, 10, VERSIONED, 'claude -p a b'))).toHaveLength(2)
  })
  test('a parent that is younger than its child is another tenant of the pid', () => {
    const native = `${NATIVE_CODEX} exec --json x`
    expect(folded(child(10, 1, NODE, launcher, { ticks: 111 }), child(11, 10, NATIVE_CODEX, native))).toHaveLength(2)
    expect(folded(child(10, 1, NODE, launcher, { ticks: 110 }), child(11, 10, NATIVE_CODEX, native))).toHaveLength(1)
  })
  test('whom its harness lists as a session is no launcher', () => {
    const two = [child(10, 1, VERSIONED, 'claude'), child(11, 10, VERSIONED, 'claude')]
    expect(agentsAmong(two, [])).toHaveLength(1)
    expect(agentsAmong(two, [entry({ process: { pid: 10, ticks: 100 } })])).toHaveLength(2)
  })
  test('a parent of itself is no endless chain', () => {
    expect(
      folded(child(10, 10, VERSIONED, 'claude'), child(11, 12, VERSIONED, 'claude'), child(12, 11, VERSIONED, 'claude', { ticks: 110 })),
    ).toEqual([])
  })
})

describe('what a harness says about its own process', () => {
  const unnamed = candidate('/opt/cc', 'cc --continue')
  test('makes it an agent, with its id', () => {
    expect(agentsAmong([unnamed], [entry()])).toEqual([
      { harness: 'claude', row: unnamed.row, launchers: [], argv: unnamed.argv, cwd: '/w', nativeId: UUID, named: null },
    ])
    expect(agentsAmong([unnamed], [])).toEqual([])
  })
  test('is worth nothing about another tenant of the pid', () => {
    const stale = entry({ process: { pid: 500, ticks: 4999 }, service: true })
    expect(agentsAmong([unnamed], [stale])).toEqual([])
    expect(agentsAmong([candidate(VERSIONED, 'claude')], [stale])).toMatchObject([{ nativeId: null }])
    expect(agentsAmong([candidate(VERSIONED, 'claude')], [stale, entry()])).toMatchObject([{ nativeId: UUID }])
  })
  test('goes before what it looks like', () => {
    expect(agentsAmong([candidate(VERSIONED, 'claude')], [entry({ service: true })])).toEqual([])
    expect(agentsAmong([candidate(VERSIONED, `claude --resume ${OTHER}`)], [entry()])).toMatchObject([{ nativeId: UUID }])
  })
  test('where it works is its own cwd, or else what is registered', () => {
    expect(agentsAmong([candidate(VERSIONED, 'claude')], [entry()])).toMatchObject([{ cwd: '/w' }])
    expect(agentsAmong([candidate(VERSIONED, 'claude', { cwd: null })], [entry()])).toMatchObject([{ cwd: '/registered' }])
    expect(agentsAmong([candidate(VERSIONED, 'claude', { cwd: null })], [])).toMatchObject([{ cwd: null }])
  })
})

test.each<[string, string, string | null]>([
  [VERSIONED, `claude --resume ${UUID}`, UUID],
  [VERSIONED, `claude -r ${UUID} -p x`, UUID],
  [VERSIONED, `claude --resume /h/.claude/projects/-w/${UUID}.jsonl`, UUID],
  [VERSIONED, `claude --resume ${UUID} --fork-session`, null],
  [VERSIONED, `claude --resume ${UUID} --fork-session --session-id ${OTHER}`, OTHER],
  [VERSIONED, 'claude --resume my-name', null],
  [VERSIONED, 'claude --resume', null],
  [VERSIONED, `claude -p ${UUID}`, null],
  ['/x/copilot', `copilot --resume=${UUID}`, UUID],
  ['/x/gemini', `gemini --session-id ${UUID}`, UUID],
  ['/x/gemini', 'gemini --resume latest', null],
  ['/x/gemini', 'gemini --resume 5', null],
  [NATIVE_CODEX, `codex resume ${UUID}`, UUID],
  [NATIVE_CODEX, `codex exec resume ${UUID} go`, UUID],
  [NATIVE_CODEX, `codex fork ${UUID}`, null],
  ['/x/opencode', 'opencode run -s ses_4f2aBC', 'ses_4f2aBC'],
  ['/x/goose', 'goose session -r --session-id 20260102_3', '20260102_3'],
])('the id of %s %s is %s', (exe, line, id) => expect(idOf(exe, line)).toBe(id))

describe('registries', () => {
  const home = mkdtempSync(join(tmpdir(), 'hf-agents-'))
  afterAll(() => rmSync(home, { recursive: true }))
  beforeEach(() => {
    for (const folder of ['.claude', '.qwen', 'elsewhere']) rmSync(join(home, folder), { recursive: true, force: true })
  })
  const write = (path: string, what: unknown): void => {
    mkdirSync(join(home, path, '..'), { recursive: true })
    writeFileSync(join(home, path), typeof what === 'string' ? what : JSON.stringify(what))
  }
  const claude = { pid: 78, sessionId: UUID, cwd: '/w', procStart: '12345', kind: 'interactive', status: 'busy' }
  const told = { harness: 'claude', process: { pid: 78, ticks: 12345 }, cwd: '/w', nativeId: UUID, service: false }

  test('Claude Code', () => {
    write('.claude/sessions/78.json', claude)
    write('.claude/sessions/79.json', { ...claude, pid: 79, kind: 'daemon' })
    write('.claude/sessions/80.json', { ...claude, pid: 80, kind: 'daemon-worker', sessionId: undefined })
    expect(registeredAgents({ HOME: home }, anybody)).toEqual([
      told,
      { ...told, process: { pid: 79, ticks: 12345 }, service: true },
      { ...told, process: { pid: 80, ticks: 12345 }, service: true, nativeId: null },
    ])
  })
  test('in a folder of its own choice', () => {
    write('elsewhere/sessions/78.json', claude)
    expect(registeredAgents({ HOME: home }, anybody)).toEqual([])
    expect(registeredAgents({ HOME: home, CLAUDE_CONFIG_DIR: join(home, 'elsewhere') }, anybody)).toEqual([told])
  })
  test('Qwen Code, where it says where it works', () => {
    const qwen = { procStart: 'b0075000-0000-4000-8000-000000000000:777', sessionId: OTHER, kind: 'tui' }
    write('.qwen/sessions/90.json', { ...qwen, cwd: '/q' })
    write('.qwen/sessions/91.json', qwen)
    expect(registeredAgents({ HOME: home }, anybody)).toEqual([
      { harness: 'qwen', process: { pid: 90, ticks: 777 }, cwd: '/q', nativeId: OTHER, service: false },
    ])
  })
  test.each<[string, unknown]>([
    ['78.json', ''],
    ['78.json', '{"pid":78'],
    ['78.json', 'null'],
    ['78.json', '7'],
    ['78.json', '[]'],
    ['78.json', { ...claude, pid: 79 }],
    ['78.json', { ...claude, pid: '78' }],
    ['78.json', { ...claude, procStart: '' }],
    ['78.json', { ...claude, procStart: 'b:12345' }],
    ['78.json', { ...claude, procStart: '-1' }],
    ['78.json', '{"pid":78,"cwd":"/w","procStart":{"toString":1,"valueOf":1}}'],
    ['78.json', { ...claude, cwd: 5 }],
    ['78.json', { ...claude, cwd: 'w' }],
    ['78.json', { ...claude, name: 'x'.repeat(65_536) }],
    ['1.json', { ...claude, pid: 1 }],
    ['9999999.json', { ...claude, pid: 9_999_999 }],
    ['078.json', claude],
    ['78.key', claude],
    ['78.json/78.json', claude],
  ])('%s that says %j tells nothing, and the next one is read', (name, what) => {
    write(`.claude/sessions/${name}`, what)
    write('.claude/sessions/99.json', { ...claude, pid: 99 })
    expect(registeredAgents({ HOME: home }, anybody).map(({ process }) => process.pid)).toEqual([99])
  })
  test('a pipe is not waited for', () => {
    mkdirSync(join(home, '.claude/sessions'), { recursive: true })
    execFileSync('mkfifo', [join(home, '.claude/sessions/78.json')])
    expect(registeredAgents({ HOME: home }, anybody)).toEqual([])
  })
  test('no more than 500 are read', () => {
    for (let pid = 1000; pid < 1510; pid += 1) write(`.claude/sessions/${pid}.json`, { ...claude, pid })
    expect(registeredAgents({ HOME: home }, anybody)).toHaveLength(500)
  })
  test('those that are not there are not even read', () => {
    expect(registeredAgents({ HOME: home }, () => false)).toEqual([])
  })
  test('without a home there is nothing', () => expect(registeredAgents({}, anybody)).toEqual([]))
})

describe('where it works', () => {
  const at = (argv: readonly string[], cwd: string | null = '/here'): string | null | undefined =>
    agentsAmong([{ row: row(500, { name: 'codex' }), exe: NATIVE_CODEX, argv: ['codex', ...argv], cwd }], [])[0]?.cwd
  test.each([
    [['exec', 'x'], '/here'],
    [['exec', '-C', '/there', 'x'], '/there'],
    [['-C', 'below', 'exec', 'x'], '/here/below'],
    [['exec', '--cd=../up'], '/up'],
  ])('codex %j', (argv, where) => expect(at(argv)).toBe(where))
  test('what is relative to nowhere is nowhere', () => expect(at(['-C', '/there'], null)).toBeNull())
  test('to others the same letters are something else', () => {
    const claude = { row: row(500, { name: 'claude' }), exe: '/opt/claude', argv: ['claude', '-C', '/there'], cwd: '/here' }
    expect(agentsAmong([claude], [])[0]?.cwd).toBe('/here')
  })
})

test.each<[string, string | null]>([
  ['claude --resume x', 'claude'],
  ['env A=1 -u B claude', 'claude'],
  ['timeout -k 5 20 claude -p', 'claude'],
  ['nice -n 5 nohup setsid -w codex exec', 'codex'],
  ['stdbuf -o0 env A=1 timeout 20 /usr/bin/gemini', 'gemini'],
  ['sudo -u dev opencode run', 'opencode'],
  ['node /usr/lib/node_modules/@google/gemini-cli/dist/index.js', 'gemini'],
  // What is only spoken of is not started.
  ['timeout 5 grep claude file', null],
  ['nice echo claude', null],
  ['sh -c claude', 'claude'],
  ['sh start.sh claude', null],
  ['env', null],
  ['timeout 20', null],
])('%s starts %s', (line, name) => expect(commandOf(line.split(' '))?.harness.name ?? null).toBe(name))
