import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gone, inLab } from './lab.ts'

test('uninstall takes hooks, completions and the daemon out, says what is left, and does nothing while a session lives', () =>
  inLab(async (lab) => {
    const user = lab.newDir()
    Object.assign(lab.env, { HOME: user, XDG_CONFIG_HOME: undefined, XDG_DATA_HOME: undefined, CLAUDE_CONFIG_DIR: undefined })
    const settings = join(user, '.claude', 'settings.json')
    const before = '{\n  "model": "opus"\n}\n'
    mkdirSync(join(user, '.claude'))
    writeFileSync(settings, before)
    await lab.ok(['hooks', 'install', 'claude'])
    const fish = join(user, '.config', 'fish', 'completions', 'holdfast.fish')
    const bash = join(user, '.local', 'share', 'bash-completion', 'completions', 'holdfast')
    for (const path of [fish, bash]) mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(fish, await lab.ok(['completion', 'fish']))
    writeFileSync(bash, '# of somebody else\n')
    writeFileSync(join(user, '.bashrc'), 'eval "$(holdfast shell-init bash)"\n')
    await lab.ok(['daemon', 'start'])
    const daemon = (JSON.parse(await lab.ok(['daemon', 'status', '--json'])) as { pid: number }).pid
    const installed = readFileSync(settings, 'utf8')
    await lab.ok(lab.detached('s', 'sleep', '1000'))
    expect(await lab.refused(['uninstall'])).toMatchObject({
      id: 'uninstall-sessions-live',
      code: 75,
      message: expect.stringContaining('(s)') as string,
    })
    expect([readFileSync(settings, 'utf8'), existsSync(fish)]).toEqual([installed, true])
    await lab.ok(['stop', 's'])
    const said = await lab.ok(['uninstall'])
    await gone(daemon)
    expect([readFileSync(settings, 'utf8'), existsSync(fish), existsSync(bash)]).toEqual([before, false, true])
    expect(said).toContain('out of ~/.claude/settings.json; everything else in it is as it was')
    expect(said).toContain(`left: ${lab.home} (sessions, logs and config.toml)`)
    expect(said).toContain('left: ~/.bashrc (a line about holdfast')
    expect(said).toContain('npm uninstall --global holdfast')
    // Sessions are as they were, and a second time there is nothing to do.
    expect((await lab.status('s')).state).toBe('stopped')
    expect(JSON.parse(await lab.ok(['uninstall', '--json']))).toMatchObject({ hooks: [], service: null, daemon: null, completions: [], trouble: [] })
    expect((await lab.hf(['uninstall', 'extra'])).code).toBe(64)
  }))

test('what cannot be taken out is named, and keeps nothing else', () =>
  inLab(async (lab) => {
    const user = lab.newDir()
    Object.assign(lab.env, { HOME: user, XDG_CONFIG_HOME: undefined, XDG_DATA_HOME: undefined, CLAUDE_CONFIG_DIR: undefined })
    const fish = join(user, '.config', 'fish', 'completions', 'holdfast.fish')
    mkdirSync(join(fish, '..'), { recursive: true })
    writeFileSync(fish, await lab.ok(['completion', 'fish']))
    mkdirSync(join(user, '.claude'))
    writeFileSync(join(user, '.claude', 'settings.json'), 'no JSON "holdfast"')
    const { code, stdout } = await lab.hf(['uninstall'])
    expect([code, existsSync(fish)]).toEqual([69, false])
    expect(stdout).toMatch(/^not done: .*settings\.json/m)
  }))
