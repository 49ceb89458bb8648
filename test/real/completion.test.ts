import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMAND, inLab, type Lab } from './lab.ts'

/** Named as missing by scripts/test.sh, these are skipped. */
const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** A lab with two sessions: `alive` runs, `over` has ended. */
const withSessions = (body: (lab: Lab) => Promise<void>): Promise<void> =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 'over', '--dir', lab.newDir(), '--', 'true'])
    await lab.ok(['run', '--session', 'alive', '--name', 'api', '--dir', lab.dir, '--detach', '--', 'sleep', '300'])
    await body(lab)
  })

/** The answer of a shell that has the script, in a home of its own. */
async function inShell(lab: Lab, shell: string, args: readonly string[], script: string): Promise<string> {
  const home = lab.newDir()
  const path = join(home, `holdfast.${shell}`)
  writeFileSync(path, await lab.ok(['completion', shell]))
  const env = { ...lab.env, HOME: home, PATH: `${dirname(COMMAND)}:${process.env['PATH'] ?? ''}`, SCRIPT: path }
  const { status, stdout, stderr } = spawnSync(shell, [...args, script], { cwd: lab.dir, env, encoding: 'utf8', timeout: 120_000 })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout
}

describe('_complete', () => {
  test('it lists sessions with their names and states, live ones alone where they are wanted', () =>
    withSessions(async (lab) => {
      const all = (await lab.ok(['_complete', 'session'])).trim().split('\n')
      expect(all).toHaveLength(2)
      expect(all[0]).toBe(`alive\tapi · running · ${lab.dir}`)
      expect(all[1]).toMatch(/^over\tcompleted · /)
      expect(await lab.ok(['_complete', 'live-session'])).toBe(`${all[0] ?? ''}\n`)
    }))

  test('it knows agents, also those of config.toml', () =>
    inLab(async (lab) => {
      await lab.ok(['ls'])
      writeFileSync(join(lab.home, 'config.toml'), '[harness.mine]\ncommand = ["mine"]\n')
      expect((await lab.ok(['_complete', 'agent'])).split('\n')).toEqual(expect.arrayContaining(['claude', 'codex', 'mine']))
      expect((await lab.ok(['_complete', 'hooked-agent'])).split('\n')).toContain('claude')
    }))

  test('without a home, with a broken store, and for an unknown kind it says nothing and makes nothing', () =>
    inLab(async (lab) => {
      const silent = { code: 0, stdout: '', stderr: '' }
      expect(await lab.hf(['_complete', 'session'])).toEqual(silent)
      expect(existsSync(lab.home)).toBe(false)
      mkdirSync(lab.home, { mode: 0o700 })
      const store = join(lab.home, 'holdfast.db')
      writeFileSync(store, 'x'.repeat(5000))
      expect(await lab.hf(['_complete', 'session'])).toEqual(silent)
      expect(await lab.hf(['_complete', 'frob'])).toEqual(silent)
      expect(await lab.hf(['_complete'])).toEqual(silent)
      expect(readFileSync(store, 'utf8')).toBe('x'.repeat(5000))
    }))
})

describe.skipIf(!has('bash'))('bash', () => {
  test('it completes verbs, options, sessions, agents and directories', () =>
    withSessions(async (lab) => {
      mkdirSync(join(lab.dir, 'source'))
      const elsewhere = join(lab.newDir(), 'other')
      const cases: readonly (readonly [words: readonly string[], offered: readonly string[]])[] = [
        [['st'], ['stop', 'status']],
        [['dae'], ['daemon']],
        [['_'], []],
        [
          ['daemon', 'st'],
          ['start', 'stop', 'status'],
        ],
        [['daemon', 'run', '--b'], ['--by']],
        [
          ['daemon', 'run', '--by', 's'],
          ['start', 'service'],
        ],
        [['stop', ''], ['alive']],
        [['stop', 'alive', ''], ['alive']],
        [
          ['status', ''],
          ['alive', 'over'],
        ],
        [['--home', elsewhere, 'status', ''], []],
        [['run', '--session', 'o'], ['over']],
        [['run', '--session', '=', 'o'], ['over']],
        [
          ['run', '--until', ''],
          ['harness', 'tree'],
        ],
        [['run', '--until', '=', 't'], ['tree']],
        [['run', '--de'], ['--detach']],
        [['run', '--worktree', '=', 'x', '--de'], ['--detach']],
        [['ls', '--de'], []],
        [['run', '-d', 'claud'], ['claude']],
        [['run', '--', 'claud'], ['claude']],
        [['run', '-d', 'claude', 'sou'], ['source']],
        [['lock', 'sou'], ['source']],
        [['lock', '--check', 'sou'], ['source']],
        [['run', '--dir', 'sou'], ['source']],
        [['send', 'alive', ''], []],
        [
          ['task', 'start', '--on-retire', ''],
          ['cancel', 'adopt'],
        ],
        [['hooks', 'install', 'code'], ['codex']],
        [['help', 'sib'], ['siblings']],
        [
          ['completion', ''],
          ['bash', 'zsh', 'fish'],
        ],
      ]
      const quoted = (word: string): string => `'${word}'`
      const tries = cases.map(([words]) => `try holdfast ${words.map(quoted).join(' ')}`).join('\n')
      const script = `source "$SCRIPT"
        try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _holdfast holdfast; printf '%s ' "\${COMPREPLY[@]}"; echo; }
        ${tries}
        complete -p holdfast`
      const lines = (await inShell(lab, 'bash', ['--norc', '--noprofile', '-c'], script)).split('\n')
      expect(lines[cases.length]).toBe('complete -F _holdfast holdfast')
      // Programs of this machine may begin like an agent.
      for (const [index, [words, offered]] of cases.entries()) {
        const found = [...new Set((lines[index] ?? '').trim().split(' ').filter(Boolean))]
        if (words.includes('claud')) expect(found, words.join(' ')).toEqual(expect.arrayContaining([...offered]))
        else expect(found, words.join(' ')).toEqual([...offered])
      }
    }))
})

describe.skipIf(!has('zsh'))('zsh', () => {
  test('its script is sound, and is bound to the command', () =>
    inLab(async (lab) => {
      expect(await inShell(lab, 'zsh', ['-f', '-c'], 'zsh -n "$SCRIPT"')).toBe('')
      const bound = 'autoload -Uz compinit; compinit -D -u; source "$SCRIPT"; print $_comps[holdfast]'
      expect(await inShell(lab, 'zsh', ['-f', '-c'], bound)).toBe('_holdfast\n')
    }))
})

describe.skipIf(!has('fish'))('fish', () => {
  test('it completes verbs, options, sessions and choices', () =>
    withSessions(async (lab) => {
      expect(await inShell(lab, 'fish', ['--no-config', '-c'], 'fish --no-execute $SCRIPT')).toBe('')
      const cases: readonly (readonly [line: string, offered: readonly string[]])[] = [
        ['holdfast st', ['status', 'stop']],
        ['holdfast daemon st', ['start', 'status', 'stop']],
        ['holdfast stop ', ['alive']],
        ['holdfast status ', ['alive', 'over']],
        ['holdfast run --session o', ['over']],
        ['holdfast run --until=t', ['--until=tree']],
        ['holdfast ls --un', ['--unmanaged']],
        ['holdfast stop --un', []],
        ['holdfast completion ', ['bash', 'fish', 'zsh']],
      ]
      const script = `source $SCRIPT\n${cases.map(([line]) => `complete -C '${line}'; echo .`).join('\n')}`
      const answers = (await inShell(lab, 'fish', ['--no-config', '-c'], script)).split('.\n')
      for (const [index, [line, offered]] of cases.entries()) {
        const words = (answers[index] ?? '')
          .split('\n')
          .filter(Boolean)
          .map((answer) => answer.split('\t')[0])
        expect(words, line).toEqual([...offered])
      }
    }))
})

test.skipIf(!has('groff'))('the man page is shown without a warning', () => {
  const { status, stdout, stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww', 'docs/holdfast.1'], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout.length).toBeGreaterThan(10_000)
})

test('each verb explains itself, with its option and by help; a home is not needed', () =>
  inLab(async (lab) => {
    const { stdout: overview } = await lab.hf(['help'])
    const verbs = [...overview.matchAll(/^ {2}([a-z]+) /gm)].map((match) => match[1] ?? '')
    expect(verbs.length).toBeGreaterThan(30)
    for (const verb of ['run', 'daemon', 'ls']) {
      const told = await lab.ok([verb, '--help'])
      expect(told).toContain(`holdfast ${verb}`)
      expect(await lab.ok(['help', verb])).toBe(told)
      expect(await lab.ok(['--help', verb])).toBe(told)
    }
    expect(await lab.ok(['task', 'start', '--help', '--', 'touch', join(lab.dir, 'x')])).toContain('holdfast task start')
    expect(await lab.ok(['--help'])).toBe(overview)
    expect(await lab.hf(['help', 'stpo'])).toMatchObject({ code: 64, stdout: '', stderr: expect.stringContaining('did you mean stop?') as string })
    expect(await lab.hf([])).toEqual({ code: 64, stdout: '', stderr: overview })
    expect(existsSync(lab.home)).toBe(false)
    expect(existsSync(join(lab.dir, 'x'))).toBe(false)
  }))
