import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { AGENT, inLab, isAlive } from './lab.ts'

verifies('private', 'ids outside the grammar are refused with 64 and change nothing', () =>
  inLab(async (lab) => {
    await lab.ok(['ls'])
    for (const id of ['../../x', '/etc/x', 'a/b', '..', '.', '', '-x', 'x y', 'x\ny', 'ä', 'x'.repeat(129)]) {
      const refused = await lab.hf(['run', '--session', id, '--dir', lab.dir, '--detach', '--', 'true'])
      expect(refused.code, JSON.stringify(id)).toBe(64)
      expect(refused.stderr.split('\n')[0], JSON.stringify(id)).toMatch(/^holdfast: .+/)
    }
    expect(JSON.parse(await lab.ok(['ls', '--all', '--json']))).toEqual([])
    expect(readdirSync(join(lab.home, 'runs'))).toEqual([])
    await lab.ok(['run', '--session', 'x'.repeat(128), '--dir', lab.dir, '--', 'true'])
  }),
)

verifies('visible', 'wrong words are refused in one clear sentence', () =>
  inLab(async (lab) => {
    const cases: [string[], number, RegExp][] = [
      [[], 64, /exactly one live owner/],
      [['frobnicate'], 64, /unknown verb "frobnicate"/],
      [['ls', '--frob'], 64, /unknown option --frob/],
      [['ls', 'extra'], 64, /ls takes no "extra"/],
      [['run'], 64, /no command/],
      [['run', '--session'], 64, /--session needs a value/],
      [['run', '--detach=yes', '--', 'true'], 64, /takes no value/],
      [['run', '--takeover', '--attach', '--', 'true'], 64, /exclude each other/],
      [['run', '--until', 'never', '--', 'true'], 64, /harness or tree/],
      [['run', '--timeout', 'soon', '--', 'true'], 64, /duration/],
      [['run', '--dir', '/no/such/place', '--', 'true'], 66, /no such directory/],
      [['run', '--dir', '/etc/passwd', '--', 'true'], 66, /not a directory/],
      [['status'], 64, /one session/],
      [['status', 'nobody'], 66, /no such session: nobody/],
      [['stop'], 64, /sessions, or --all/],
      [['stop', 'nobody'], 66, /no such session/],
      [['stop', '--all', 'x'], 64, /sessions, or --all/],
      [['resume', 'nobody'], 66, /no such session/],
      [['logs', 'nobody'], 66, /no such session/],
      [['wait', 'nobody'], 66, /no such session/],
      [['events', 'nobody'], 66, /no such session/],
      [['logs', 'x', '-n', 'many'], 64, /number of lines/],
      [['--home', '/dev/null/x', 'ls'], 69, /cannot make the home/],
      [['--home', '/proc/nope/deeper', 'ls'], 69, /cannot make the home/],
    ]
    for (const [args, code, message] of cases) {
      const result = await lab.hf(args)
      expect(result.code, args.join(' ')).toBe(code)
      expect(result.stderr, args.join(' ')).toMatch(message)
      expect(result.stderr, args.join(' ')).not.toMatch(/ {4}at /)
      expect(result.stdout).toBe('')
    }
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
      const refused = await lab.hf(['ls', '--home', home])
      expect(refused.code, home).toBe(69)
      expect(refused.stderr, home).toMatch(/^holdfast: .+/)
    }
    expect(readdirSync(folder)).toEqual(['thesis.txt'])
    if (process.getuid?.() === 0) {
      const { chownSync } = await import('node:fs')
      const other = lab.newDir()
      chownSync(other, 65534, 65534)
      const refused = await lab.hf(['ls', '--home', other])
      expect(refused).toMatchObject({ code: 69, stderr: expect.stringContaining('belongs to uid 65534') as string })
    }
  }),
)

verifies('visible', 'a store that cannot be used is told; sessions can still be seen and stopped', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--detach', '--', AGENT, 'tree'])
    const pids = await Promise.all(['main', 'plain', 'setsid', 'scrubbed'].map(lab.pid))
    for (const name of ['holdfast.db', 'holdfast.db-wal', 'holdfast.db-shm']) writeFileSync(join(lab.home, name), 'x'.repeat(5000))
    const seen = await lab.hf(['ls', '--json'])
    expect(seen.stderr).toMatch(/not a SQLite database; it was left as it is/)
    expect(JSON.parse(seen.stdout)).toMatchObject([{ session: 's', pid: pids[0], liveness: 'alive' }])
    expect((await lab.hf(['status', 's', '--json'])).code).toBe(0)
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
    const refused = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--detach', '--', 'true'], {
      env: { HOLDFAST_LINEAGE: Array.from({ length: 16 }, (_, index) => `c${index}`).join(':') },
    })
    expect(refused).toMatchObject({ code: 64, stderr: expect.stringContaining('nested 16 deep') as string })
  }),
)
