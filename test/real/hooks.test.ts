import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { hookCommand } from '../../src/harness/index.ts'
import { inLab, readOr, until } from './lab.ts'

const SCRIPT = resolve('dist/hook.sh')

test('hooks are installed, listed and taken out by the command', () =>
  inLab(async (lab) => {
    const home = lab.newDir()
    const options = { env: { HOME: home, CLAUDE_CONFIG_DIR: '', CODEX_HOME: '' } }
    const settings = join(home, '.claude', 'settings.json')
    mkdirSync(join(home, '.claude'))
    writeFileSync(settings, '{"model": "x"} // mine\n')
    expect(await lab.ok(['hooks', 'install', 'claude', 'codex'], options)).toMatch(
      /^claude: added hooks for .*\n[\s\S]*uninstall claude\ncodex: .*\n {2}codex runs no hook/,
    )
    expect(readFileSync(settings, 'utf8')).toContain(JSON.stringify(hookCommand(SCRIPT, 'claude', 'before-tool')))
    const states = JSON.parse(await lab.ok(['hooks', 'ls', '--json'], options)) as { harness: string; state: string }[]
    expect(states.filter(({ state }) => state === 'installed').map(({ harness }) => harness)).toEqual(['claude', 'codex'])
    expect(await lab.ok(['hooks', 'ls'], options)).toMatch(/^claude +installed +.*settings\.json$/m)
    expect(JSON.parse(await lab.ok(['hooks', 'uninstall', 'claude', '--json'], options))).toMatchObject([
      { harness: 'claude', path: settings, did: 'removed' },
    ])
    expect(readFileSync(settings, 'utf8')).toBe('{"model": "x"} // mine\n')
    for (const args of [['hooks'], ['hooks', 'install'], ['hooks', 'ls', 'claude'], ['hooks', 'install', 'goose']])
      expect(await lab.hf(args, options), args.join(' ')).toMatchObject({ code: 64, stdout: '' })
  }))

test('the tool calls of an agent that was told to end are denied from then on', () =>
  inLab(async (lab) => {
    const line = hookCommand(SCRIPT, 'claude', 'before-tool')
    const agent = `trap 'ended=yes' TERM; while :; do sh -c "$1" </dev/null 2>>"$FA_DIR/said"; echo "$?" >>"$FA_DIR/codes"; [ "$(tail -n 1 "$FA_DIR/codes")" = 0 ] || exit 9; sleep 0.05; done`
    await lab.ok(lab.detached('s', 'sh', '-c', agent, 'agent', line))
    const codes = () => readOr(join(lab.agentDir, 'codes')).trim().split('\n')
    await until('some allowed calls', () => codes().length > 3)
    expect(new Set(codes())).toEqual(new Set(['0']))
    await lab.ok(['stop', 's', '--grace', '20s'])
    expect(codes().at(-1)).toBe('2')
    expect(readOr(join(lab.agentDir, 'said'))).toMatch(/^Holdfast: denied\. Session s, which this agent worked for, was stopped \(by .+: .+\), so/)
  }))
