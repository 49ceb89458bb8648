import { spawnSync } from 'node:child_process'
import { chownSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { ENDED, HOLDER, LOCK_HOLDER } from '../pins/examples.ts'
import { pinned } from '../pins/matcher.ts'
import { AGENT, COMMAND, inLab, inNamespace, TEST_COMMAND, unable } from './lab.ts'
import { refuses } from './pin-lab.ts'

test('refusals and their exit codes: 64, 66, 69, 70, 75', () =>
  inLab(async (lab) => {
    await refuses(lab, 64, ['frobnicate'], { error: 'usage', id: 'verb-unknown' })
    await refuses(lab, 64, ['ls', 'word'], { error: 'usage', id: 'arguments-wrong', hint: null })
    await refuses(lab, 66, ['status', 'nobody'], { error: 'noSuchSession', id: 'session-unknown' })
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    await lab.pid('main')
    await refuses(lab, 75, ['run', '--session', 's', '--', 'true'], { error: 'held', id: 'owner-alive', holder: HOLDER, why: '<text>' })
    await refuses(lab, 75, ['run', '--session', 'u', '--dir', lab.dir, '--', 'true'], {
      error: 'held',
      id: 'directory-held',
      holder: HOLDER,
      relation: 'same',
      worksIn: null,
      why: '<text>',
    })
    await refuses(lab, 75, ['lock', lab.dir], { error: 'held', id: 'directory-held', holder: HOLDER, relation: 'same', worksIn: null, why: '<text>' })
    await refuses(lab, 75, ['wait', 's', '--timeout', '10ms'], { error: 'held', id: 'session-still-running', hint: null })
    const broken = await lab.hf(['tree', 's', '--json'], { command: TEST_COMMAND, env: { HOLDFAST_FAILPOINTS: 'before:processes.table=throw' } })
    expect(broken).toMatchObject({ code: 70, stdout: '', stderr: expect.stringMatching(/^holdfast: a bug: Error: /) as string })
    const home = join(lab.dir, 'no-home')
    spawnSync('touch', [home])
    await refuses(lab, 69, ['ls', '--home', home], { error: 'unavailable', id: 'home-unusable' })
  }))

test('what cannot be proven: 76', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    await lab.pid('main')
    const script = `set +e; ${COMMAND} stop s --json; echo $?; ${COMMAND} run --json --session s --dir ${lab.dir} -d -- true 2>&1; echo $?; ${COMMAND} lock --check ${lab.dir} --json; echo $?`
    const [stopped = '', first, refused = '', second, check = '', third] = inNamespace(script, lab.env).stdout.split('\n')
    expect([first, second, third]).toEqual(['76', '76', '76'])
    pinned(JSON.parse(stopped), [{ ...ENDED, result: 'unknown', state: 'running', ended: [], why: '<text>' }])
    pinned(JSON.parse(refused), {
      error: 'unproven',
      id: 'owner-unproven',
      code: 76,
      message: '<text>',
      hint: '<text>',
      holder: HOLDER,
      why: '<text>',
    })
    pinned(JSON.parse(check), {
      dir: lab.dir,
      state: 'unknown',
      own: false,
      why: '<text>',
      relation: 'same',
      worksIn: null,
      holder: { ...LOCK_HOLDER, pid: null },
    })
  }))

test('survivors: 79', () =>
  inLab(async (lab) => {
    if (process.getuid?.() !== 0) return unable('another user needs root')
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    await lab.pid('main')
    giveAll(lab.home, 65534)
    const nobody = `setpriv --reuid 65534 --regid 65534 --clear-groups ${COMMAND}`
    const script = `chmod 711 ${dirname(lab.home)}; ${nobody} stop s --json; echo $?; ${nobody} run --json --session s --dir / --takeover -d -- true 2>&1; echo $?`
    const { stdout } = spawnSync('bash', ['-uc', script], { env: lab.env, encoding: 'utf8' })
    giveAll(lab.home, 0)
    const [stopped = '', first, refused = '', second] = stdout.split('\n')
    expect([first, second]).toEqual(['79', '79'])
    const survivors = [{ pid: '<pid>', name: 'sleep', why: '<text>' }]
    pinned(JSON.parse(stopped), [{ ...ENDED, result: 'survivors', state: 'stopping', ended: [], survivors }])
    pinned(JSON.parse(refused), { error: 'survivors', id: 'survivors-remain', code: 79, message: '<text>', hint: '<text>', survivors })
  }))

function giveAll(path: string, id: number): void {
  chownSync(path, id, id)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) giveAll(join(path, entry.name), id)
    else chownSync(join(path, entry.name), id, id)
  }
}
