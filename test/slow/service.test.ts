import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { policy } from '../../src/model/index.ts'
import { COMMAND, gone, inLab, isAlive, type Lab, type Result, readOr, unable, until } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

const FAKE = resolve('test/fixtures/systemctl.cjs')

type Service = {
  readonly env: NodeJS.ProcessEnv
  readonly units: string
  readonly calls: () => string[]
  mode(mode: string): void
  sf(...args: string[]): Promise<Result>
  status(): Promise<Record<string, unknown>>
}

/** A systemd that is none, first on the PATH. */
function service(lab: Lab): Service {
  const folder = lab.newDir()
  const bin = lab.newDir()
  const config = lab.newDir()
  const state = lab.newDir()
  writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\nexec '${process.execPath}' '${FAKE}' "$@"\n`)
  writeFileSync(join(bin, 'loginctl'), '#!/bin/sh\necho Linger=no\n')
  for (const name of readdirSync(bin)) chmodSync(join(bin, name), 0o755)
  const env = { FAKE_SYSTEMD: folder, XDG_CONFIG_HOME: config, XDG_STATE_HOME: state, PATH: `${bin}${delimiter}${process.env['PATH']}` }
  const sf: Service['sf'] = (...args) => lab.hf(['service', ...args], { env })
  return {
    env,
    units: join(config, 'systemd', 'user'),
    calls: () => readOr(join(folder, 'calls')).split('\n').filter(Boolean),
    mode: (mode) => writeFileSync(join(folder, 'mode'), mode),
    sf,
    async status() {
      return JSON.parse((await sf('status', '--json')).stdout) as Record<string, unknown>
    },
  }
}

verifies('one-owner', 'the service takes the place of a daemon that was started by hand, and of nothing else; sessions live through all of it', () =>
  inLab(async (lab) => {
    const { sf, status, units, calls, env } = service(lab)
    expect(await status()).toMatchObject({ installed: false, enabled: false, active: false, runs: 'nothing', pid: null, disagreement: null })
    await lab.ok(lab.detached('s', 'sleep', '3600'))
    const { pid: agent } = await lab.status('s')
    const byHand = lab.start(['daemon', 'run'], { cwd: '/' })
    await until('the daemon by hand', async () => (await status())['runs'] === 'by-hand')

    const installed = await sf('install')
    expect(installed, installed.stderr).toMatchObject({ code: 0 })
    expect(installed.stdout).toMatch(new RegExp(`started by hand \\(pid ${byHand.pid}\\) was stopped`))
    expect(installed.stdout).toMatch(/loginctl enable-linger/)
    await gone(byHand.pid ?? 0)
    const now = await status()
    expect(now).toMatchObject({
      installed: true,
      file: 'ours',
      current: true,
      enabled: true,
      active: true,
      runs: 'service',
      startedBy: 'service',
      disagreement: null,
    })
    expect(now['pid']).toBe(now['servicePid'])
    const name = String(now['name'])
    expect(name).toMatch(/^holdfast-[0-9a-f]{8}\.service$/)
    expect(statSync(join(units, name)).mode & 0o777).toBe(0o600)
    expect(calls().slice(-8)).toEqual(expect.arrayContaining(['--user daemon-reload', `--user enable ${name}`, `--user start ${name}`]))

    // Again: nothing to do, and the same daemon runs.
    const again = await sf('install', '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({ did: 'nothing', replaced: null, pid: now['pid'] })

    // What a person changed is not written over, nor removed.
    const edited = `${readOr(join(units, name))}# mine\n`
    writeFileSync(join(units, name), edited)
    expect(await sf('install')).toMatchObject({ code: 64, stderr: expect.stringContaining('was edited since Holdfast wrote it') as string })
    expect(await sf('uninstall')).toMatchObject({ code: 64 })
    expect(readOr(join(units, name))).toBe(edited)
    expect(await status()).toMatchObject({ file: 'edited', runs: 'service' })
    const forced = await sf('install', '--force', '--json')
    expect(JSON.parse(forced.stdout)).toMatchObject({ did: 'updated', replaced: null })
    expect((await status())['file']).toBe('ours')

    const removed = await sf('uninstall')
    expect(removed, removed.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('all sessions go on') as string })
    expect(existsSync(join(units, name))).toBe(false)
    expect(await status()).toMatchObject({ installed: false, enabled: false, active: false, runs: 'nothing' })
    expect(await sf('uninstall')).toMatchObject({ code: 0, stdout: expect.stringContaining('was not installed') as string })
    expect(isAlive(agent)).toBe(true)
    expect(env.PATH).toContain(delimiter)
    await lab.ok(['stop', 's'])
  }),
)

verifies('visible', 'two that disagree, and a service that failed, are told', () =>
  inLab(async (lab) => {
    const { sf, status, mode, calls } = service(lab)
    mode('broken')
    const failed = await sf('install')
    expect(failed).toMatchObject({
      code: 69,
      stderr: expect.stringMatching(/did not come up: exit-code, exit status 75[\s\S]*journalctl --user/) as string,
    })
    expect((await sf('status')).code).toBe(69)
    expect(await status()).toMatchObject({ installed: true, runs: 'nothing', disagreement: expect.stringContaining('has failed') as string })
    const byHand = lab.start(['daemon', 'run'], { cwd: '/' })
    await until('the daemon by hand', async () => (await status())['pid'] === byHand.pid)
    expect(await status()).toMatchObject({
      runs: 'by-hand',
      disagreement: expect.stringContaining(`is pid ${byHand.pid}; the service has failed`) as string,
    })
    mode('')
    // Uninstalling the service does not touch who was started by hand.
    const removed = await sf('uninstall')
    expect(removed).toMatchObject({ code: 0, stdout: expect.stringContaining(`goes on (pid ${byHand.pid})`) as string })
    expect(isAlive(byHand.pid ?? 0)).toBe(true)
    expect(calls().filter((call) => call.includes('--now'))).toHaveLength(1)
    byHand.kill('SIGTERM')
    await gone(byHand.pid ?? 0)
  }),
)

verifies('bounded', 'where no service manager answers nothing is written, and it is told why and what works instead', () =>
  inLab(async (lab) => {
    const { sf, mode, units, env } = service(lab)
    const told = async (why: RegExp): Promise<void> => {
      const began = performance.now()
      const refused = await sf('install')
      expect(performance.now() - began).toBeLessThan(policy.managerMs + 60_000)
      expect(refused.code, refused.stderr).toBe(69)
      expect(refused.stderr).toMatch(why)
      expect(refused.stderr).toMatch(/holdfast daemon start/)
      expect(existsSync(units)).toBe(false)
      expect((await sf('status')).code).toBe(0)
    }
    mode('none')
    await told(/nothing was changed: no systemd of the user can be reached \(Failed to connect to bus/)
    expect((await sf('uninstall')).code).toBe(0)
    // A PATH with everything but systemctl.
    const bare = lab.newDir()
    for (const program of ['node', 'sh', 'readlink', 'prlimit']) {
      const found = (process.env['PATH'] ?? '')
        .split(delimiter)
        .map((folder) => join(folder, program))
        .find(existsSync)
      if (found !== undefined) symlinkSync(program === 'node' ? process.execPath : realpathSync(found), join(bare, program))
    }
    const absent = await lab.hf(['service', 'install'], { env: { ...env, PATH: bare } })
    expect(absent).toMatchObject({ code: 69, stderr: expect.stringContaining('there is no systemctl on the PATH') as string })
    mode('hang')
    const began = performance.now()
    const hung = await sf('install')
    expect(hung).toMatchObject({ code: 69, stderr: expect.stringContaining('did not answer within 10 s') as string })
    expect(performance.now() - began).toBeLessThan(policy.managerMs + 60_000)
    expect(existsSync(units)).toBe(false)
    // It can be asked, but does nothing.
    mode('fail')
    expect(await sf('install')).toMatchObject({
      code: 69,
      stderr: expect.stringMatching(/systemctl --user daemon-reload failed: Failed to daemon-reload unit/) as string,
    })
  }),
)

test('on another system than Linux each verb says so in one sentence, and nothing is written', () =>
  inLab(async (lab) => {
    const { units, env, calls } = service(lab)
    const elsewhere = join(lab.newDir(), 'elsewhere.cjs')
    writeFileSync(elsewhere, "Object.defineProperty(process, 'platform', { value: 'darwin' })")
    for (const verb of ['install', 'uninstall', 'status']) {
      const { code, stdout, stderr } = await lab.hf(['service', verb], { env: { ...env, NODE_OPTIONS: `--require ${elsewhere}` } })
      expect([code, stdout, stderr]).toEqual([
        69,
        '',
        'holdfast: a service needs Linux with systemd, and this system is darwin\n  holdfast daemon start runs the daemon without a service\n',
      ])
    }
    expect([existsSync(units), calls()]).toEqual([false, []])
  }))

test('a file of somebody else is left alone; the usual home has the plain name', () =>
  inLab(async (lab) => {
    const own = service(lab)
    const { sf, units } = own
    const HOME = lab.newDir()
    const env: NodeJS.ProcessEnv = { ...own.env, HOME }
    const usual = join(HOME, '.local', 'state', 'holdfast')
    // Whoever has chosen a state folder has chosen a home: two of them must not have one unit.
    const chosen = await lab.hf(['service', 'status', '--json', '--home', join(String(env['XDG_STATE_HOME']), 'holdfast')], { env })
    expect(JSON.parse(chosen.stdout)).toMatchObject({ name: expect.stringMatching(/^holdfast-[0-9a-f]{8}\.service$/) as string })
    const plain = await lab.hf(['service', 'status', '--json', '--home', usual], { env })
    expect(JSON.parse(plain.stdout)).toMatchObject({ name: 'holdfast.service', path: join(units, 'holdfast.service') })
    mkdirSync(units, { recursive: true })
    writeFileSync(join(units, 'holdfast.service'), '[Service]\nExecStart=/bin/true\n')
    expect(await lab.hf(['service', 'install', '--home', usual], { env })).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('was not written by Holdfast') as string,
    })
    expect(await lab.hf(['service', 'uninstall', '--home', usual], { env })).toMatchObject({ code: 64 })
    expect((await sf('start')).code).toBe(64)
    expect((await sf('status', '--force')).code).toBe(64)
    rmSync(usual, { recursive: true })
    rmSync(join(String(env['XDG_STATE_HOME']), 'holdfast'), { recursive: true })
  }))

test('systemd itself finds nothing wrong with the unit, whatever the home is called', () =>
  inLab(async (lab) => {
    const probe = spawnSync('systemd-analyze', ['--version'], { timeout: 120_000 })
    if (probe.status !== 0) return unable('there is no systemd-analyze')
    const { units, env } = service(lab)
    const home = join(lab.newDir(), `a b%h "q" \\x $HOME 'y'`)
    const installed = await lab.hf(['service', 'install', '--home', home], { env })
    expect(installed.code, installed.stderr).toBe(0)
    const [name = ''] = readdirSync(units).filter((entry) => entry.endsWith('.service'))
    const verified = spawnSync('systemd-analyze', ['--user', 'verify', join(units, name)], {
      encoding: 'utf8',
      timeout: 120_000,
      env: { ...lab.env, XDG_RUNTIME_DIR: lab.newDir() },
    })
    expect(verified.stderr).not.toMatch(new RegExp(name.replace('.', '\\.')))
    expect(verified.status, verified.stderr).toBe(0)
    // And it runs in that very home.
    const { pid } = JSON.parse((await lab.hf(['service', 'status', '--json', '--home', home], { env })).stdout) as { pid: number }
    expect(readOr(`/proc/${pid}/environ`).split('\0')).toContain(`HOLDFAST_HOME=${home}`)
    expect((await lab.hf(['service', 'uninstall', '--home', home], { env })).code).toBe(0)
    expect(COMMAND).toContain('holdfast')
  }))
