import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { logOf, started } from './daemon-lab.ts'
import { COMMAND, gone, inLab, isAlive, type Lab, readOr, until } from './lab.ts'
import { onTerminal } from './terminal.ts'

/** Clears the screen in seven and in eight bits, names the window, turns text around, breaks lines and speaks for us. */
const EVIL = '\u001B[2J\u009B2J\u001B]0;owned\u0007\u202Etxt\u2028\u200B\r\nholdfast: all is well'
const SHORT = '\u001B[2J\u009B1m\u202E'

/** Whole UTF-8, and nothing in it that steers a terminal or cannot be seen, but for our own line ends. */
function expectPlain(what: string, bytes: Buffer): string {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  expect(text.replaceAll('\n', ''), what).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
  expect(text, what).not.toMatch(/^holdfast: all is well/m)
  return text
}

type Said = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** What a command says, as bytes. */
function say(lab: Lab, args: readonly string[], more: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {}): Said {
  const result = spawnSync(COMMAND, args, { cwd: more.cwd ?? lab.dir, env: { ...lab.env, ...more.env }, timeout: 120_000 })
  const what = `holdfast ${JSON.stringify(args)}`
  return { code: result.status, stdout: expectPlain(`${what}: stdout`, result.stdout), stderr: expectPlain(`${what}: stderr`, result.stderr) }
}

verifies('visible', 'no argument, name or path of somebody else reaches the terminal as it is', () =>
  inLab(async (lab) => {
    const evilDir = join(lab.dir, EVIL)
    const refusals: [args: string[], code: number][] = [
      [[EVIL], 64],
      [['ls', `--${EVIL}`], 64],
      [['ls', `--${SHORT}`], 64],
      [[`--${SHORT}`], 64],
      [['ls', EVIL], 64],
      [['status', EVIL], 64],
      [['run', '--until', EVIL, '--', 'true'], 64],
      [['run', '--timeout', EVIL, '--', 'true'], 64],
      [['run', '--budget', EVIL, '--', 'true'], 64],
      [['run', '--session', EVIL, '--', 'true'], 64],
      [['run', '--name', EVIL, '--', 'true'], 64],
      [['run', '--dir', evilDir, '--', 'true'], 66],
      [['lock', evilDir], 66],
      [['run', '--dir', lab.dir, '--', EVIL], 127],
      [['run', '--dir', lab.dir, '--', `./${EVIL}`], 127],
      [['run', '--detach', '--dir', lab.dir, '--', `/none/${EVIL}`], 66],
      [['ls', '--home', `/dev/null/${EVIL}`], 69],
      [['stop', '--suspect', EVIL], 64],
      [['logs', 'x', '-n', EVIL], 64],
      [['completion', EVIL], 64],
      [['help', EVIL], 64],
      [['send', EVIL, 'x'], 64],
      [['message', EVIL, 'x'], 64],
      [['hooks', 'install', EVIL], 64],
      [['attach', EVIL], 64],
      [['daemon', EVIL], 64],
    ]
    for (const [args, code] of refusals)
      for (const form of [args, ['--json', ...args]]) expect([form, say(lab, form)], JSON.stringify(form)).toMatchObject([form, { code, stdout: '' }])
    say(lab, ['ls'], { env: { HOLDFAST_NODE: EVIL } })
  }),
)

verifies('visible', 'a directory, a program, a branch and a message of somebody else are shown and not obeyed', () =>
  inLab(async (lab) => {
    const dir = join(lab.dir, EVIL)
    mkdirSync(dir)
    spawnSync('git', ['init', '-q', '-b', 'main', dir])
    // What git does not allow in a branch, somebody can still write there.
    writeFileSync(join(dir, '.git', 'HEAD'), `ref: refs/heads/${SHORT}\n`)
    const program = join(dir, SHORT)
    copyFileSync('/bin/sleep', program)
    const run = ['run', '--session', 'evil', '--dir', dir, '--detach', '--', program, '1000']
    expect(say(lab, run).code).toBe(0)
    expect(say(lab, run).code).toBe(75)
    expect(say(lab, ['run', '--session', 'other', '--dir', dir, '--', 'true']).code).toBe(75)
    expect(say(lab, ['lock', dir]).code).toBe(75)
    expect(say(lab, ['lock', '--check', dir]).code).toBe(75)
    for (const verb of [
      ['message', 'evil', EVIL],
      ['ls'],
      ['ls', '--all'],
      ['status', 'evil'],
      ['tree', 'evil'],
      ['locks'],
      ['siblings'],
      ['events'],
      ['doctor'],
    ])
      for (const form of [verb, [...verb, '--json']]) say(lab, form)
    const { dir: shown } = JSON.parse(say(lab, ['status', 'evil', '--json']).stdout) as { dir: string }
    expect(shown).toBe(dir)
    say(lab, ['whoami'], { cwd: dir })
    const inbox = spawnSync(COMMAND, ['_complete', 'session'], { env: lab.env })
    expectPlain('completion', Buffer.from(inbox.stdout.toString('latin1').replaceAll('\t', ''), 'latin1'))
    // A process that only looks related, with the name of its program.
    const stranger = spawn(program, ['1000'], { cwd: dir, stdio: 'ignore', detached: true })
    expect(say(lab, ['tree', 'evil', '--suspects']).stdout).toContain(String(stranger.pid))
    expect(say(lab, ['stop', '--suspect', String(stranger.pid)]).stdout).toContain('ended, seen gone')
    await gone(stranger.pid ?? 0)
    expect(say(lab, ['stop', 'evil']).code).toBe(0)
    expect(say(lab, ['wait', 'evil']).stdout).toContain('stopped')
    expect(say(lab, ['events', '--json']).code).toBe(0)
    expect(say(lab, ['prune', '--dry-run']).code).toBe(0)
  }),
)

verifies('visible', 'without a store the names that lie in run directories are shown and not obeyed', () =>
  inLab(async (lab) => {
    const program = join(lab.dir, SHORT)
    copyFileSync('/bin/sleep', program)
    expect(say(lab, lab.detached('s', program, '1000')).code).toBe(0)
    const { pid } = await lab.status('s')
    // Its agent can write there.
    const [run = ''] = readdirSync(join(lab.home, 'runs'))
    const file = join(lab.home, 'runs', run, 'run.json')
    writeFileSync(
      file,
      JSON.stringify({
        ...(JSON.parse(readFileSync(file, 'utf8')) as object),
        argv: [`sleep${EVIL}`],
        dir: `/nowhere${EVIL}`,
        user: EVIL,
        host: EVIL,
      }),
    )
    for (const name of ['holdfast.db-wal', 'holdfast.db-shm']) rmSync(join(lab.home, name), { force: true })
    writeFileSync(join(lab.home, 'holdfast.db'), 'no store\n'.repeat(1000))
    expect(say(lab, ['ls']).code).toBe(69)
    const stopped = say(lab, ['stop', '--all', '--grace', '1s'])
    expect([stopped.code, isAlive(pid)], stopped.stderr).toEqual([0, false])
    rmSync(join(lab.home, 'holdfast.db'))
  }),
)

verifies('visible', "the daemon's log has no sequence of anybody else, and no line but the daemon's own", () =>
  inLab(async (lab) => {
    const fake = `2026-01-01T00:00:00.000Z 1 ended: exit code 0${SHORT}`
    const home = join(lab.dir, `h${SHORT}\n${fake}`)
    const own = { ...lab, home, env: { ...lab.env, HOLDFAST_HOME: home } }
    expect(say(own, ['ls']).code).toBe(0)
    writeFileSync(join(home, 'config.toml'), `[notify]\n"${'\\u001b[2J'}" = 1\n`)
    const pid = await started(lab, { env: { HOLDFAST_HOME: home } })
    try {
      await until('its log', () => logOf(own).includes('started: holdfast') || null)
      say(own, ['daemon', 'status'])
      say(own, ['daemon', 'status', '--json'])
    } finally {
      expect(say(own, ['daemon', 'stop']).code).toBe(0)
      await gone(pid)
    }
    const log = expectPlain('the log', readFileSync(join(home, 'daemon', 'log')))
    expect(log).toContain('started: holdfast')
    expect(log.split('\n').filter((line) => line.startsWith('2026-01-01T00:00:00.000Z'))).toEqual([])
  }),
)

verifies('visible', 'logs gives every byte to a program, and to a terminal text and colours', () =>
  inLab(async (lab) => {
    const output = Buffer.concat([
      Buffer.from('begin \u001B[31mred\u001B[0m \u001B]0;owned\u0007\u001B[10;10Hmoved '),
      Buffer.from([0x9b, 0x32, 0x4a]),
      Buffer.from(' end\n'),
    ])
    const file = join(lab.dir, 'output')
    writeFileSync(file, output)
    await lab.ok(lab.detached('s', 'cat', file))
    await lab.ok(['wait', 's'])
    expect(spawnSync(COMMAND, ['logs', 's'], { env: lab.env }).stdout).toEqual(output)
    await onTerminal(lab, ['sh', '-c', `'${COMMAND}' logs s; exec sleep 1000`], async (terminal) => {
      await terminal.sees('end')
      // All on its line: nothing moved the cursor.
      expect(terminal.screen()).toMatch(/^begin red ·\]0;owned··\[10;10Hmoved .2J end$/m)
      terminal.close()
    })
    expect(readOr(file)).not.toBe('')
  }),
)
