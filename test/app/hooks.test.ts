import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { writeHookRecord } from '../../src/app/hooks/hook-receipt.ts'
import { hooksStatus, installHooks, uninstallHooks } from '../../src/app/hooks/install-hooks.ts'
import { parseJson } from '../../src/harness/hooks/jsonc.ts'
import { addHooks, HOOK_FACTS, HOOK_WORDS, HOOKS, hookCommand } from '../../src/harness/index.ts'
import { sha256 } from '../../src/lib/index.ts'
import { Problem } from '../../src/model/index.ts'
import { deniedText } from '../../src/show/index.ts'
import { verifies } from '../requirements.ts'

const root = mkdtempSync(join(tmpdir(), 'hf-hooks-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let serial = 0
/** A user's home, and a Holdfast. */
function user() {
  const home = join(root, `user ${++serial}`)
  mkdirSync(join(home, 'hf'), { recursive: true })
  const world = { home: join(home, 'hf'), assets: join(home, 'dist'), env: { HOME: home } }
  return { home, world, claude: join(home, '.claude', 'settings.json') }
}
function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
const read = (path: string): string => readFileSync(path, 'utf8')
/** What the harness would run at an event of Claude's schema. */
const commands = (path: string, event: string): string[] => inText(read(path), event)
const inText = (text: string, event: string): string[] =>
  (JSON.parse(text.replaceAll(/^\s*\/\/.*$/gm, '')) as { hooks: Record<string, { hooks: { command: string }[] }[]> }).hooks[event]?.flatMap(
    ({ hooks }) => hooks.map(({ command }) => command),
  ) ?? []

const SETTINGS = '{\n  // mine\n  "model": "x",\n  "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}'

test('for every harness: install, once more, and back to nothing', () => {
  for (const harness of Object.keys(HOOKS)) {
    const { home, world } = user()
    const first = installHooks(world, harness)
    expect(first, harness).toMatchObject({ harness, did: 'installed' })
    expect(statSync(first.path).mode & 0o777, harness).toBe(0o600)
    const text = read(first.path)
    expect(installHooks(world, harness), harness).toMatchObject({ did: 'nothing' })
    expect(read(first.path), harness).toBe(text)
    expect(hooksStatus(world).find((state) => state.harness === harness)?.state).toBe('installed')
    expect(uninstallHooks(world, harness), harness).toMatchObject({ did: 'removed' })
    expect(readdirSync(home), harness).toEqual(['hf'])
    expect(readdirSync(join(home, 'hf', 'hooks')), harness).toEqual([])
    expect(uninstallHooks(world, harness), harness).toMatchObject({ did: 'nothing' })
  }
})

test('settings come back byte for byte, with their mode, through links', () => {
  const { home, world, claude } = user()
  const real = join(home, 'dotfiles', 'claude.json')
  write(real, `\uFEFF${SETTINGS}`)
  chmodSync(real, 0o640)
  mkdirSync(dirname(claude))
  symlinkSync('../dotfiles/claude.json', claude)
  installHooks(world, 'claude')
  expect(lstatSync(claude).isSymbolicLink()).toBe(true)
  expect(read(real)).toContain('HOLDFAST_FENCE')
  expect(statSync(real).mode & 0o777).toBe(0o640)
  uninstallHooks(world, 'claude')
  expect(lstatSync(claude).isSymbolicLink()).toBe(true)
  expect(read(real)).toBe(`\uFEFF${SETTINGS}`)
  expect(statSync(real).mode & 0o777).toBe(0o640)
  expect(readdirSync(dirname(real))).toEqual(['claude.json'])
})

verifies('private', 'what is remembered of an install is no copy of the settings, which may have secrets in them', () => {
  const { home, world, claude } = user()
  write(claude, '{"env": {"TOKEN": "a-secret"}, "hooks": {}}\n')
  installHooks(world, 'claude')
  expect(read(claude)).toContain('a-secret')
  expect(read(join(home, 'hf', 'hooks', 'claude.json'))).not.toContain('a-secret')
})

test('a link to nothing stays one, and what it leads to is made', () => {
  const { home, world, claude } = user()
  mkdirSync(dirname(claude))
  symlinkSync(join(home, 'later.json'), claude)
  installHooks(world, 'claude')
  expect(lstatSync(claude).isSymbolicLink()).toBe(true)
  expect(read(join(home, 'later.json'))).toContain('HOLDFAST_FENCE')
})

test('an empty file stays an empty file', () => {
  const { world, claude } = user()
  write(claude, '')
  installHooks(world, 'claude')
  expect(commands(claude, 'PreToolUse')).toHaveLength(1)
  uninstallHooks(world, 'claude')
  expect(read(claude)).toBe('')
})

test('what others wrote meanwhile stays, also when nobody remembers the install', () => {
  for (const forget of [false, true]) {
    const { home, world, claude } = user()
    write(claude, SETTINGS)
    installHooks(world, 'claude')
    writeFileSync(claude, read(claude).replace('"model": "x"', '"model": "y", "more": [1]'))
    if (forget) rmSync(join(home, 'hf', 'hooks'), { recursive: true })
    expect(uninstallHooks(world, 'claude').did).toBe('removed')
    expect(read(claude)).toBe(SETTINGS.replace('"model": "x"', '"model": "y", "more": [1]'))
  }
})

test('a file that was made for ours stays once there is more in it', () => {
  const { world, claude } = user()
  installHooks(world, 'claude')
  writeFileSync(claude, read(claude).replace('{', '{"mine": 1,'))
  uninstallHooks(world, 'claude')
  expect(JSON.parse(read(claude))).toEqual({ mine: 1 })
})

test('of two Holdfasts the last has the hooks, and either takes them out', () => {
  const { home, world, claude } = user()
  write(claude, SETTINGS)
  const other = { ...world, home: join(home, 'hf2'), assets: join(home, "it's moved", 'dist') }
  installHooks(world, 'claude')
  expect(hooksStatus(other)).toContainEqual(expect.objectContaining({ harness: 'claude', state: 'other' }))
  expect(installHooks(other, 'claude').did).toBe('replaced')
  expect(commands(claude, 'PreToolUse').slice(1)).toEqual([expect.stringContaining(`it'\\''s moved`)])
  expect(installHooks(world, 'claude').did).toBe('replaced')
  expect(commands(claude, 'SessionStart')).toEqual([expect.stringContaining(world.assets)])
  expect(uninstallHooks(other, 'claude').did).toBe('removed')
  expect(read(claude)).toBe(SETTINGS)
})

type User = ReturnType<typeof user>
const stateOf = ({ world }: User, harness: string) => hooksStatus(world).find((state) => state.harness === harness)?.state

/** As a Holdfast did it that had no hook for prompts. */
function installOlder({ world }: User, harness: string, path: string, before: string): void {
  const rule = HOOKS[harness]
  const command = (event: 'session-start' | 'before-tool' | 'session-end') => hookCommand(join(world.assets, 'hook.sh'), harness, event)
  const events = (['session-start', 'before-tool', 'session-end'] as const).map((event) => ({
    event: (rule?.kind === 'settings' && (rule.events[event] as string)) || '',
    command: command(event),
  }))
  const { text, steps, made } = addHooks(before, events)
  write(path, text)
  writeHookRecord(world, harness, { path, sha256: sha256(text), steps, made, created: false, folders: [] })
}

test('hooks from before there were those for prompts and turns are called outdated; an install adds what is missing, and out come the very bytes', () => {
  for (const [harness, file, events] of [
    ['claude', '.claude/settings.json', ['UserPromptSubmit', 'Stop', 'Notification']],
    ['codex', '.codex/hooks.json', ['UserPromptSubmit', 'Stop', 'PermissionRequest']],
    ['gemini', '.gemini/settings.json', ['BeforeAgent', 'AfterAgent', 'Notification']],
    ['qwen', '.qwen/settings.json', ['UserPromptSubmit', 'Stop', 'Notification']],
    ['droid', '.factory/settings.json', ['UserPromptSubmit', 'Stop', 'Notification']],
  ] as const) {
    const one = user()
    const path = join(one.home, file)
    installOlder(one, harness, path, SETTINGS)
    const older = read(path)
    expect(stateOf(one, harness), harness).toBe('outdated')
    expect(installHooks(one.world, harness), harness).toMatchObject({ did: 'updated', events })
    for (const [index, event] of (['prompt', 'turn-end', 'waiting'] as const).entries())
      expect(commands(path, events[index] ?? ''), harness).toEqual([hookCommand(join(one.world.assets, 'hook.sh'), harness, event)])
    // Those that were there are where they were, as codex's trust in them wants it.
    for (const other of ['SessionStart', 'PreToolUse', 'BeforeTool', 'SessionEnd'])
      if (older.includes(`"${other}"`)) expect(commands(path, other), `${harness} ${other}`).toEqual(inText(older, other))
    expect(stateOf(one, harness), harness).toBe('installed')
    expect(installHooks(one.world, harness).did, harness).toBe('nothing')
    uninstallHooks(one.world, harness)
    expect(read(path), harness).toBe(SETTINGS)
  }
})

test('an update leaves what others wrote since where it is, also when nobody remembers the install', () => {
  for (const forget of [false, true]) {
    const one = user()
    const { home, world, claude } = one
    installOlder(one, 'claude', claude, SETTINGS)
    // Somebody else's hook, behind ours.
    const theirs = read(claude).replace('}]}], "Session', '}]}, {"hooks": [{"type": "command", "command": "theirs"}]}], "Session')
    expect(theirs).not.toBe(read(claude))
    writeFileSync(claude, theirs)
    const places = commands(claude, 'PreToolUse')
    expect(places.at(-1)).toBe('theirs')
    if (forget) rmSync(join(home, 'hf', 'hooks'), { recursive: true })
    expect(stateOf(one, 'claude')).toBe('outdated')
    expect(installHooks(world, 'claude').did).toBe('updated')
    expect(commands(claude, 'PreToolUse')).toEqual(places)
    expect(uninstallHooks(world, 'claude').did).toBe('removed')
    const left = JSON.parse(read(claude).replaceAll(/^\s*\/\/.*$/gm, '')) as { hooks: Record<string, unknown> }
    expect(Object.keys(left.hooks), `forget: ${forget}`).toEqual(['PreToolUse'])
    expect(commands(claude, 'PreToolUse')).toEqual(places.filter((command) => !command.includes('HOLDFAST_FENCE')))
  }
})

test('a file of ours from before is outdated too, and written anew; of another Holdfast it is not', () => {
  for (const harness of ['copilot', 'grok', 'opencode', 'kilo']) {
    const one = user()
    const { path } = installHooks(one.world, harness)
    writeFileSync(path, read(path).replaceAll(/[^\n]*hook\.sh'? [a-z]+ prompt[^\n]*\n/g, ''))
    expect(stateOf(one, harness), harness).toBe('outdated')
    expect(hooksStatus({ ...one.world, assets: '/elsewhere' }).find((state) => state.harness === harness)?.state).toBe('other')
    expect(installHooks(one.world, harness).did, harness).toBe('updated')
    expect(stateOf(one, harness), harness).toBe('installed')
  }
})

test('news at a prompt are told in the words of each harness, to its model and to the person', () => {
  const said = (harness: string) => HOOK_WORDS[harness]?.atPrompt('a "word"') ?? null
  for (const harness of ['claude', 'codex', 'qwen', 'droid', 'gemini'])
    expect(JSON.parse(said(harness) ?? ''), harness).toEqual({
      systemMessage: 'a "word"',
      hookSpecificOutput: { hookEventName: harness === 'gemini' ? 'BeforeAgent' : 'UserPromptSubmit', additionalContext: 'a "word"' },
    })
  expect(JSON.parse(said('copilot') ?? '')).toEqual({ additionalContext: 'a "word"' })
  for (const harness of ['opencode', 'kilo']) expect(said(harness)).toBe('a "word"')
  // It throws away what a hook says then.
  expect(said('grok')).toBeNull()
})

test('what is no JSON object, or not ours, is left alone and told', () => {
  const { home, world, claude } = user()
  const copilot = join(home, '.copilot', 'hooks', 'holdfast.json')
  for (const [harness, path, text] of [
    ['claude', claude, '[1]'],
    ['claude', claude, '{"hooks": 1}'],
    ['claude', claude, 'model = 1'],
    ['copilot', copilot, '{"version":1}'],
  ] as const) {
    write(path, text)
    for (const verb of [installHooks, uninstallHooks]) expect(() => verb(world, harness)).toThrow(expect.objectContaining({ id: 'settings-invalid' }))
    expect(hooksStatus(world).find((state) => state.harness === harness)?.state).toBe('unreadable')
    expect(read(path)).toBe(text)
  }
  writeFileSync(claude, Buffer.from([0x7b, 0xff, 0x7d]))
  expect(() => installHooks(world, 'claude')).toThrow(/it is no UTF-8 text/)
  expect([...readFileSync(claude)]).toEqual([0x7b, 0xff, 0x7d])
})

test('a harness without hooks is refused with those that have them', () => {
  const { world } = user()
  for (const name of ['goose', 'toString', '']) {
    expect(() => installHooks(world, name)).toThrow(Problem)
    expect(() => installHooks(world, name)).toThrow(
      expect.objectContaining({ id: 'hooks-unsupported', hint: expect.stringContaining('claude, codex, gemini, qwen, opencode') }),
    )
  }
})

test("a harness's own variables say where its settings are", () => {
  const at = (harness: string, env: Record<string, string>) => HOOKS[harness]?.path({ HOME: '/home/dev', ...env })
  expect(at('claude', {})).toBe('/home/dev/.claude/settings.json')
  expect(at('claude', { CLAUDE_CONFIG_DIR: '/c' })).toBe('/c/settings.json')
  expect(at('codex', { CODEX_HOME: '/c' })).toBe('/c/hooks.json')
  expect(at('copilot', { COPILOT_HOME: '/c' })).toBe('/c/hooks/holdfast.json')
  expect(at('gemini', { GEMINI_CLI_HOME: '/c' })).toBe('/c/.gemini/settings.json')
  expect(at('qwen', { QWEN_HOME: '/c' })).toBe('/c/settings.json')
  expect(at('grok', { GROK_HOME: '/c' })).toBe('/c/hooks/holdfast.json')
  expect(at('opencode', { XDG_CONFIG_HOME: '/c' })).toBe('/c/opencode/plugins/holdfast.js')
  expect(at('droid', {})).toBe('/home/dev/.factory/settings.json')
})

test('the plugin tells what its person waits for: the end of a turn, and questions, also of those that it has started', () => {
  const { home, world } = user()
  const { path } = installHooks(world, 'opencode')
  mkdirSync(world.assets)
  writeFileSync(join(world.assets, 'hook.sh'), 'printf "%s %s %s\\n" "$1" "$2" "$(cat)" >>"$TOLD"\n')
  const script = `
    import { Holdfast } from ${JSON.stringify(path)}
    import { existsSync, readFileSync } from 'node:fs'
    const parents = { ses_child: 'ses_1', ses_grandchild: 'ses_child', ses_1: undefined }
    const get = async ({ path: { id } }) => ({ data: id in parents ? { parentID: parents[id] } : undefined })
    const { event } = await Holdfast({ client: { session: { get } } })
    for (const [type, sessionID] of [
      ['permission.asked', 'ses_1'], ['permission.replied', 'ses_1'], ['question.asked', 'ses_grandchild'], ['question.rejected', 'ses_grandchild'],
      ['session.idle', 'ses_child'], ['session.idle', 'ses_1'], ['permission.updated', 'ses_stranger'], ['session.idle', undefined],
    ]) {
      await event({ event: { type, properties: { sessionID } } })
      await new Promise((done) => setTimeout(done, 5))
    }
    for (let i = 0; i < 500 && !(existsSync(process.env.TOLD) && readFileSync(process.env.TOLD, 'utf8').split('\\n').length > 5); i++)
      await new Promise((done) => setTimeout(done, 20))
  `
  const told = join(home, 'told')
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env['PATH'] ?? '', TOLD: told, HOLDFAST_FENCE: join(home, 'retired'), HOLDFAST_RUN: 'r1' },
    encoding: 'utf8',
    timeout: 120_000,
  })
  expect(stderr.replaceAll(/^.*(Warning|warning|Reparsing|To eliminate).*\n/gm, '')).toBe('')
  // What was answered reads like a tool call: that is how a shell hears that it goes on.
  expect(read(told).split('\n')).toEqual([
    ...['waiting', 'before-tool', 'waiting', 'before-tool', 'turn-end'].map((event) => `opencode ${event} {"session_id":"ses_1"}`),
    '',
  ])
})

test('which notifications are meant is said where a harness has kinds of them', () => {
  const groups = (harness: string, event: string) => {
    const { world } = user()
    const { hooks } = JSON.parse(read(installHooks(world, harness).path)) as { hooks: Record<string, { matcher?: string; hooks?: unknown[] }[]> }
    return hooks[event]?.map(({ matcher }) => matcher)
  }
  expect(groups('claude', 'Notification')).toEqual(['permission_prompt|elicitation_dialog|elicitation_url_dialog|agent_needs_input'])
  // It compares whole words.
  expect(groups('qwen', 'Notification')).toEqual(['permission_prompt'])
  expect(groups('gemini', 'Notification')).toEqual(['ToolPermission'])
  expect(groups('copilot', 'notification')).toEqual(['permission_prompt|elicitation_dialog'])
  expect(groups('codex', 'PermissionRequest')).toEqual([undefined])
  expect(groups('droid', 'Notification')).toEqual([undefined])
  expect(groups('grok', 'Notification')).toBeUndefined()
  for (const [harness, event] of [
    ['claude', 'Stop'],
    ['codex', 'Stop'],
    ['qwen', 'Stop'],
    ['droid', 'Stop'],
    ['grok', 'Stop'],
    ['gemini', 'AfterAgent'],
    ['copilot', 'agentStop'],
  ] as const)
    expect(groups(harness, event), harness).toEqual([undefined])
})

test('the plugin reports the session of a person, puts news beside its prompts, and denies the tools of a retired agent', () => {
  const { home, world } = user()
  const { path } = installHooks(world, 'opencode')
  mkdirSync(world.assets)
  copyFileSync('src/keep/scripts/hook.sh', join(world.assets, 'hook.sh'))
  writeFileSync(
    join(world.assets, 'hook.cjs'),
    "const { appendFileSync, readFileSync } = require('node:fs')\nappendFileSync(process.env.TOLD, process.argv.slice(2).join(' ') + ' ' + readFileSync(0, 'utf8') + '\\n')\nif (process.argv[3] === 'prompt') console.log(process.env.NEWS ?? '')",
  )
  const fence = join(home, 'retired')
  writeFileSync(join(home, 'facts'), HOOK_FACTS)
  const script = `
    import { Holdfast } from ${JSON.stringify(path)}
    import { existsSync, readFileSync, writeFileSync } from 'node:fs'
    const hooks = await Holdfast({ client: { session: { get: async ({ path: { id } }) => ({ data: id === 'ses_child' ? { parentID: 'ses_1' } : {} }) } } })
    const event = (type, properties) => hooks.event({ event: { type, properties } })
    const lines = async (count) => {
      for (let i = 0; i < 500 && !(existsSync(process.env.TOLD) && readFileSync(process.env.TOLD, 'utf8').split('\\n').length > count); i++)
        await new Promise((done) => setTimeout(done, 20))
    }
    await event('session.created', { info: { id: 'ses_1', directory: '/w' } })
    await lines(1)
    await event('session.created', { info: { id: 'ses_child', parentID: 'ses_1' } })
    await event('session.status', { sessionID: 'ses_child', status: { type: 'busy' } })
    await event('session.status', { sessionID: 'ses_1', status: { type: 'busy' } })
    await event('session.updated', { info: { id: 'ses_2' } })
    await event('session.status', { sessionID: 'ses_2', status: { type: 'busy' } })
    await lines(2)
    await event('other')
    for (const sessionID of ['ses_1', 'ses_child', 'ses_from_before']) {
      const output = { message: { id: 'msg_1' }, parts: ['theirs'] }
      await hooks['chat.message']({ sessionID }, output)
      console.log(JSON.stringify(output.parts))
    }
    await hooks['tool.execute.before']({ sessionID: 'ses_2' })
    writeFileSync(${JSON.stringify(join(home, 'denial'))}, ${JSON.stringify(deniedText('s1', { end: 'stopped', by: 'dev', reason: 'enough' }))})
    writeFileSync(${JSON.stringify(fence)}, '{"end":"stopped","by":"dev","reason":"enough"}')
    await hooks['tool.execute.before']({ sessionID: 'ses_child' }).catch((error) => console.log(error.message))
  `
  const env = {
    PATH: process.env['PATH'] ?? '',
    TOLD: join(home, 'told'),
    HOLDFAST_FENCE: fence,
    HOLDFAST_RUN: 'r1',
    HOLDFAST_SESSION: 's1',
    NEWS: 'Holdfast: news',
  }
  const run = (more: Record<string, string>) =>
    spawnSync(process.execPath, ['--input-type=module', '-e', script], { env: { ...env, ...more }, encoding: 'utf8' })
  const { stdout, stderr } = run({})
  expect(stderr.replaceAll(/^.*(Warning|warning|Reparsing|To eliminate).*\n/gm, '')).toBe('')
  expect(stdout).toContain('Holdfast: denied. Session s1, which this agent worked for, was stopped (by dev: enough)')
  expect(read(env.TOLD)).toBe(
    'opencode session-start {"session_id":"ses_1","cwd":"/w","hook_event_name":"SessionStart"}\nopencode session-start {"session_id":"ses_2","hook_event_name":"SessionStart"}\nopencode prompt {"session_id":"ses_1","hook_event_name":"UserPromptSubmit"}\nopencode prompt {"session_id":"ses_from_before","hook_event_name":"UserPromptSubmit"}\n',
  )
  const partsOf = (text: string): unknown[] => text.split('\n').flatMap((line) => (line.startsWith('[') ? [JSON.parse(line) as unknown] : []))
  const part = (sessionID: string) => ({
    id: expect.stringMatching(/^prt_[0-9a-f]{12}[0-9a-z]{14}$/) as string,
    sessionID,
    messageID: 'msg_1',
    type: 'text',
    text: 'Holdfast: news',
    synthetic: true,
  })
  expect(partsOf(stdout)).toEqual([['theirs', part('ses_1')], ['theirs'], ['theirs', part('ses_from_before')]])
  // Nothing is new: nothing is put there.
  expect(partsOf(run({ NEWS: '' }).stdout)).toEqual([['theirs'], ['theirs'], ['theirs']])
  const outside = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', `import { Holdfast } from ${JSON.stringify(path)}; console.log(await Holdfast())`],
    {
      encoding: 'utf8',
      env: { PATH: env.PATH },
    },
  )
  expect(outside.stdout).toBe('{}\n')
  expect(existsSync(path)).toBe(true)
})

/** A settings file of so many keys, of which some are events with hooks of others. */
const large = (keys: number): string =>
  JSON.stringify(
    Object.fromEntries(Array.from({ length: keys }, (_, index) => [`key${index}`, index % 7 === 0 ? [{ a: 'b' }] : `v${index}`])),
    null,
    2,
  )

test('four times the keys take four times as long, and not sixteen', () => {
  const takes = (keys: number): number => {
    const { world, claude } = user()
    const text = large(keys)
    write(claude, text)
    const began = process.cpuUsage()
    installHooks(world, 'claude')
    uninstallHooks(world, 'claude')
    const took = process.cpuUsage(began).user
    expect(read(claude)).toBe(text)
    return took
  }
  takes(500)
  // The best of several: a busy machine makes one slower, and none quicker.
  const best = (keys: number): number => Math.min(...Array.from({ length: 5 }, () => takes(keys)))
  const [one, four] = [best(5000), best(20_000)]
  expect(four / one).toBeLessThan(8)
})

test('a file is read a few times for an install, and not once for every question', () => {
  const { world, claude } = user()
  const text = large(10_000)
  const timed = (work: () => void): number => {
    const began = process.cpuUsage()
    work()
    return process.cpuUsage(began).user
  }
  // Each text is another one: what was read last is known.
  const once = Math.min(...[1, 2, 3, 4, 5].map((blanks) => timed(() => void parseJson(text + ' '.repeat(blanks)))))
  const install = Math.min(
    ...[1, 2, 3, 4, 5].map((blanks) => {
      write(claude, text + ' '.repeat(blanks))
      return timed(() => void installHooks(world, 'claude'))
    }),
  )
  expect(install / once).toBeLessThan(20)
})

test('a text that a pattern cannot hold is read all the same: long strings, blanks and comments', () => {
  const { world, claude } = user()
  const blanks = ' '.repeat(200_000)
  const text = `{"a": ${JSON.stringify('x"\\'.repeat(100_000))},${blanks}${'/* c */'.repeat(20_000)}\n"b": 1 }`
  write(claude, text)
  expect(installHooks(world, 'claude')).toMatchObject({ did: 'installed' })
  expect(uninstallHooks(world, 'claude')).toMatchObject({ did: 'removed' })
  expect(read(claude)).toBe(text)
})

test('what is too large, or has more hooks of ours than anybody put in, is refused with a sentence and left as it is', () => {
  const { home, world, claude } = user()
  const refuse = (text: string, words: RegExp): void => {
    write(claude, text)
    for (const verb of [installHooks, uninstallHooks])
      expect(() => verb(world, 'claude')).toThrow(
        expect.objectContaining({ id: 'settings-invalid', message: expect.stringMatching(words) as string }),
      )
    expect(hooksStatus(world).find(({ harness }) => harness === 'claude')).toMatchObject({
      state: 'unreadable',
      trouble: expect.stringMatching(words) as string,
    })
    expect(read(claude)).toBe(text)
  }
  refuse(JSON.stringify({ a: 'x'.repeat(20_000_000) }), /it is larger than 1 MB/)
  const ours = (count: number): string =>
    addHooks(
      '{}',
      Array.from({ length: count }, () => ({ event: 'PreToolUse', command: hookCommand(join(home, 'old', 'hook.sh'), 'claude', 'before-tool') })),
    ).text
  refuse(ours(101), /it has more than 100 hooks of Holdfast's/)
  write(claude, ours(100))
  expect(uninstallHooks(world, 'claude')).toMatchObject({ did: 'removed' })
})
