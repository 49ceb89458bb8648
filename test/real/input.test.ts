import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { AGENT, COMMAND, collect, inLab, isAlive } from './lab.ts'

verifies('private', 'ids outside the grammar are refused with 64 and change nothing', () =>
  inLab(async (lab) => {
    await lab.ok(['ls'])
    for (const id of ['../../x', '/etc/x', 'a/b', '..', '.', '', '-x', 'x y', 'x\ny', 'ä', 'x'.repeat(129)]) {
      expect(await lab.refused(lab.detached(id, 'true')), JSON.stringify(id)).toMatchObject({ id: 'session-id-invalid', code: 64 })
    }
    expect(JSON.parse(await lab.ok(['ls', '--all', '--json']))).toEqual([])
    expect(readdirSync(join(lab.home, 'runs'))).toEqual([])
    await lab.ok(['run', '--session', 'x'.repeat(128), '--dir', lab.dir, '--', 'true'])
  }),
)

verifies('visible', 'wrong words are refused in one clear sentence', () =>
  inLab(async (lab) => {
    const cases: [args: string[], code: number, id: string, names: string][] = [
      [['frobnicate'], 64, 'verb-unknown', '"frobnicate"'],
      [[], 64, 'verb-missing', 'verb'],
      [['ls', '--frob'], 64, 'option-unknown', '--frob'],
      [['ls', 'extra'], 64, 'arguments-wrong', '"extra"'],
      [['run'], 64, 'command-missing', 'command'],
      [['run', '--session'], 64, 'option-value-missing', '--session'],
      [['run', '--detach=yes', '--', 'true'], 64, 'option-value-unexpected', '--detach'],
      [['run', '--takeover', '--attach', '--', 'true'], 64, 'options-exclusive', '--takeover'],
      [['run', '--until', 'never', '--', 'true'], 64, 'option-value-invalid', '--until'],
      [['run', '--timeout', 'soon', '--', 'true'], 64, 'option-value-invalid', '--timeout'],
      [['run', '--dir', '/no/such/place', '--', 'true'], 66, 'directory-missing', '/no/such/place'],
      [['run', '--dir', '/etc/passwd', '--', 'true'], 66, 'directory-missing', '/etc/passwd'],
      [['run', '--dir', '', '--', 'true'], 64, 'option-value-missing', '--dir'],
      [['status'], 64, 'arguments-wrong', 'status'],
      [['status', 'nobody'], 66, 'session-unknown', 'nobody'],
      [['stop'], 64, 'arguments-wrong', 'stop'],
      [['stop', 'nobody'], 66, 'session-unknown', 'nobody'],
      [['stop', '../x'], 64, 'session-id-invalid', '"../x"'],
      [['status', ''], 64, 'session-id-invalid', '""'],
      [['wait', 'a b'], 64, 'session-id-invalid', '"a b"'],
      [['run', '--timeout', '0', '--', 'true'], 64, 'option-value-invalid', '--timeout'],
      [['--home', '', 'ls'], 64, 'option-value-missing', '--home'],
      [['stop', '--all', 'x'], 64, 'arguments-wrong', '--all'],
      [['resume', 'nobody'], 66, 'session-unknown', 'nobody'],
      [['logs', 'nobody'], 66, 'session-unknown', 'nobody'],
      [['wait', 'nobody'], 66, 'session-unknown', 'nobody'],
      [['events', 'nobody'], 66, 'session-unknown', 'nobody'],
      [['logs', 'x', '-n', 'many'], 64, 'option-value-invalid', '"many"'],
      [['--home', '/dev/null/x', 'ls'], 69, 'home-unusable', '/dev/null/x'],
      [['--home', '/proc/nope/deeper', 'ls'], 69, 'home-unusable', '/proc/nope/deeper'],
    ]
    for (const [args, code, id, names] of cases) {
      expect(await lab.refused(args), args.join(' ')).toMatchObject({ id, code, message: expect.stringContaining(names) as string })
    }
    const told = await lab.hf(['frobnicate'])
    expect(told).toMatchObject({ code: 64, stdout: '', stderr: expect.stringMatching(/^holdfast: [^\n]*"frobnicate"/) as string })
    expect(told.stderr).not.toMatch(/ {4}at /)
    expect(await lab.hf([])).toMatchObject({ code: 64, stdout: '', stderr: expect.stringMatching(/exactly one live owner/) as string })
  }),
)

verifies('visible', 'a resume that names no session says so to programs in one object, whatever there is to choose from', () =>
  inLab(async (lab) => {
    for (const session of ['a', 'b']) await lab.ok(['run', '--session', session, '--dir', lab.dir, '--', 'true'])
    expect(await lab.refused(['resume'])).toMatchObject({ id: 'arguments-wrong', code: 64 })
    expect((await lab.hf(['resume'])).stderr).toMatch(/the newest first:\n.*a.*b/s)
  }),
)

verifies('visible', 'a home that is not ours, or not a folder, is refused with 69 and left alone', () =>
  inLab(async (lab) => {
    const folder = lab.newDir()
    writeFileSync(join(folder, 'thesis.txt'), 'mine')
    const file = join(lab.newDir(), 'file')
    writeFileSync(file, '')
    const link = join(lab.newDir(), 'loop')
    symlinkSync(link, link)
    for (const home of [folder, file, link]) {
      const id = home === folder ? 'home-not-holdfast' : 'home-unusable'
      expect(await lab.refused(['ls', '--home', home]), home).toMatchObject({ id, code: 69 })
    }
    expect(readdirSync(folder)).toEqual(['thesis.txt'])
    if (process.getuid?.() === 0) {
      const { chownSync } = await import('node:fs')
      const other = lab.newDir()
      chownSync(other, 65534, 65534)
      expect(await lab.refused(['ls', '--home', other])).toMatchObject({ id: 'home-foreign-user', code: 69 })
    }
  }),
)

verifies('visible', 'a store that cannot be used is told; sessions can still be seen and stopped', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'tree'))
    const pids = await Promise.all(['main', 'plain', 'setsid', 'scrubbed'].map(lab.pid))
    for (const name of ['holdfast.db', 'holdfast.db-wal', 'holdfast.db-shm']) writeFileSync(join(lab.home, name), 'x'.repeat(5000))
    const seen = await lab.hf(['ls', '--json'])
    expect(seen.stderr).toMatch(/not a SQLite database; it was left as it is/)
    expect(JSON.parse(seen.stdout)).toMatchObject([{ session: 's', pid: pids[0], liveness: 'alive' }])
    expect(seen.code).toBe(69)
    expect(await lab.hf(['status', 's', '--json'])).toMatchObject({ code: 69, stdout: expect.stringContaining('"liveness":"alive"') as string })
    const started = await lab.hf(['run', '--session', 't', '--dir', lab.newDir(), '--detach', '--', 'true'])
    expect(started.code).toBe(69)
    const stopped = await lab.hf(['stop', 's'])
    expect(stopped.code, stopped.stderr).toBe(0)
    expect(stopped.stderr).toMatch(/ended 4 processes/)
    for (const pid of pids) expect(isAlive(pid)).toBe(false)
    mkdirSync(join(lab.home, 'aside'))
  }),
)

verifies('bounded', 'an agent that starts itself again and again is stopped by depth', () =>
  inLab(async (lab) => {
    const refused = await lab.refused(lab.detached('s', 'true'), {
      env: { HOLDFAST_LINEAGE: Array.from({ length: 16 }, (_, index) => `c${index}`).join(':') },
    })
    expect(refused).toMatchObject({ id: 'nesting-too-deep', code: 64 })
  }),
)

verifies('innocent', 'the beginning of a name is enough to look, and four characters of it to end something', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--name', 'web-2', '--dir', lab.dir, '--detach', '--', 'sleep', '1000'])
    expect(await lab.status('web')).toMatchObject({ session: 'web-2', state: 'running' })
    for (const args of [
      ['stop', 'web'],
      ['restart', 'web', '--detach'],
      ['resume', 'web', '--takeover', '--detach'],
    ]) {
      const refused = await lab.hf(args)
      expect(refused.code, args.join(' ')).toBe(66)
      expect(refused.stderr).toMatch(/did you mean web-2\?/)
    }
    expect(await lab.status('web-2')).toMatchObject({ state: 'running', epoch: 1 })
    await lab.ok(['stop', 'web-'])
    expect(await lab.status('web-2')).toMatchObject({ state: 'stopped', epoch: 1 })
  }),
)

verifies('visible', 'a refusal can be read by a program, with its holder', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', 'sleep', '1000'))
    const { pid } = await lab.status('s')
    const refused = await lab.hf(['resume', 's', '--detach', '--json'])
    expect(refused).toMatchObject({ code: 75, stdout: '' })
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: 'held', id: 'owner-alive', code: 75, holder: { session: 's', pid, dir: lab.dir } })
    const taken = JSON.parse(await lab.ok(['resume', 's', '--takeover', '--detach', '--json'])) as {
      epoch: number
      retired: { ended: { pid: number }[] }[]
    }
    expect(taken).toMatchObject({ epoch: 2, retired: [{ state: 'superseded', ended: [{ pid }] }] })
    const restarted = await lab.hf(['restart', 's', '--timeout', '1h', '--until', 'tree'])
    expect(restarted.code).toBe(0)
    await lab.ok(['restart', 's'])
    const kept = JSON.parse(
      readFileSync(join(lab.home, 'runs', ((await lab.status('s')) as unknown as { run: string }).run, 'run.json'), 'utf8'),
    ) as { until: string; deadlineAt: number; startedAt: number }
    expect(kept).toMatchObject({ until: 'tree' })
    expect(kept.deadlineAt - kept.startedAt).toBe(3_600_000)
  }),
)

verifies('visible', 'a deleted working directory, an unbuilt checkout and a program that is none are told in a sentence', () =>
  inLab(async (lab) => {
    const gone = lab.newDir()
    const child = spawn('sh', ['-c', `cd ${gone} && rmdir ${gone} && exec ${COMMAND} run --session s -- true`], {
      env: lab.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const result = await collect(child)
    expect(result.code).toBe(66)
    expect(result.stderr).toMatch(/the current directory no longer exists/)
    mkdirSync(join(lab.dir, 'bin'))
    copyFileSync(COMMAND, join(lab.dir, 'bin', 'holdfast'))
    expect(await lab.hf(['ls'], { command: join(lab.dir, 'bin', 'holdfast') })).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('not built yet') as string,
    })
    const run = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--', '/etc/passwd'])
    expect(run).toMatchObject({ code: 126, stderr: 'holdfast: could not start /etc/passwd: not executable (EACCES)\n' })
  }),
)
