import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { serviceManager } from '../../src/app/daemon/service-manager.ts'
import { openWorld } from '../../src/app/index.ts'
import { askManager } from '../../src/keep/index.ts'
import { policy } from '../../src/model/index.ts'
import { readOr } from '../real/lab.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hf-manager-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const env = (): NodeJS.ProcessEnv => ({ HOME: folder, PATH: `${folder}:${process.env['PATH']}` })
function program(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, name), 0o755)
}

test('what a manager says is told, up to a bound; one that is not there is told too', async () => {
  program('fake-ctl', 'echo out "$@"; echo first >&2; echo second >&2; exit 3')
  expect(await askManager(join(folder, 'fake-ctl'), ['a b', 'c'], env())).toEqual({ kind: 'answered', code: 3, out: 'out a b c\n', said: 'first' })
  program('fake-ctl', 'head -c 200000 /dev/zero | tr "\\0" x')
  const long = await askManager(join(folder, 'fake-ctl'), [], env())
  expect(long.kind === 'answered' && long.out.length).toBe(policy.managerBytes)
  expect(await askManager('hf-no-such-ctl', [], env())).toEqual({ kind: 'silent', why: 'there is no hf-no-such-ctl on the PATH' })
  // What it leaves behind may hold its output open.
  program('fake-ctl', 'sleep 30 & echo $! >"$HOME/left"; echo done')
  const began = performance.now()
  expect(await askManager(join(folder, 'fake-ctl'), [], env())).toMatchObject({ kind: 'answered', code: 0, out: 'done\n' })
  expect(performance.now() - began).toBeLessThan(policy.managerMs)
  process.kill(Number(readOr(join(folder, 'left'))), 'SIGKILL')
})

test('launchd, as its manual has it: loaded, running, failed, absent', async () => {
  const world = openWorld({ assets: 'dist', home: join(folder, 'home'), env: env() })
  try {
    const manager = serviceManager(world, 'darwin')
    expect(manager).toMatchObject({
      kind: 'launchd',
      path: expect.stringMatching(/\/Library\/LaunchAgents\/dev\.holdfast\.daemon-[0-9a-f]{8}\.plist$/) as string,
    })
    const calls = join(folder, 'calls')
    program(
      'launchctl',
      `echo "$*" >>"${calls}"; [ "$1" = print ] || exit 0; [ -e "${folder}/loaded" ] || { echo 'Could not find service' >&2; exit 113; }; cat "${folder}/loaded"`,
    )
    expect(await manager.state()).toEqual({ enabled: false, active: false, state: 'not loaded', pid: null, trouble: null })
    expect(await manager.trouble()).toMatch(/no launchd of this user's session can be reached \(Could not find service\)/)
    await manager.start(false)
    expect(readOr(calls)).toMatch(/bootstrap gui\/\d+ .*\.plist\n$/)
    writeFileSync(join(folder, 'loaded'), '\tstate = running\n\tpid = 4711\n')
    expect(await manager.state()).toEqual({ enabled: true, active: true, state: 'running', pid: 4711, trouble: null })
    writeFileSync(join(folder, 'loaded'), '\tstate = not running\n\tlast exit code = 75\n')
    expect(await manager.state()).toMatchObject({ enabled: true, active: false, pid: null, trouble: 'exit code 75' })
    await manager.stop()
    expect(readOr(calls)).toMatch(/bootout gui\/\d+\/dev\.holdfast\.daemon-[0-9a-f]{8}\n$/)
  } finally {
    world.close()
  }
})

test('elsewhere there is none', () => {
  const world = openWorld({ assets: 'dist', home: join(folder, 'home') })
  expect(() => serviceManager(world, 'win32')).toThrow(expect.objectContaining({ id: 'service-unsupported' }))
  world.close()
})
