import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadSqlite } from '../../src/record/driver.ts'
import { verifies } from '../requirements.ts'

import { COMMAND, gone, inLab, isAlive, readOr, startOf, TEST_COMMAND, until } from './lab.ts'
import { program, stranger } from './strangers.ts'

const refused = (pid: number) => [
  75,
  expect.stringMatching(new RegExp(`claude \\(pid ${pid}\\) since .*holdfast adopt ${pid} .*--allow-unmanaged.*end it`, 's')),
]

verifies('one-owner', 'an agent that Holdfast did not start is named before a launch, in its directory, above and below it; beside it is free', () =>
  inLab(async (lab) => {
    const dir = lab.newDir()
    for (const name of ['a/b', 'ab']) mkdirSync(join(dir, name), { recursive: true })
    const start = (name: string, ...more: string[]) =>
      lab.hf(['run', '--session', 's', '--dir', join(dir, name), '--detach', ...more, '--', 'sleep', '1000'])
    await stranger(join(dir, 'a'), program(lab, 'claude'), ['1000'], async ({ pid }) => {
      for (const name of ['a', 'a/b', '']) {
        const { code, stderr } = await start(name)
        expect([code, stderr], name).toEqual(refused(pid))
      }
      expect(isAlive(pid)).toBe(true)
      expect((await start('ab')).code).toBe(0)
      await lab.ok(['stop', 's'])
      expect((await start('a', '--share')).code, '--share is about sessions').toBe(75)
      expect((await start('a', '--allow-unmanaged')).code).toBe(0)
      expect(await lab.ok(['locks'])).toContain(`beside claude (pid ${pid}), which is not managed`)
      await lab.ok(['stop', 's'])
      expect(isAlive(pid)).toBe(true)
    })
    expect((await start('a')).code).toBe(0)
  }),
)

test('infrastructure, and what is only called so, is in nobody’s way', () =>
  inLab(async (lab) => {
    // A shell under their names: it stays as long as nobody writes to its standard input, whatever else it is told.
    const claude = program(lab, 'claude', '/bin/bash')
    const vim = program(lab, 'vim', '/bin/bash')
    const run = ['-c', 'read x', 'claude']
    for (const [command, argv] of [
      [claude, ['daemon', 'run']],
      [claude, ['bg-pty-host', '--bg-pty-host', '/x']],
      [claude, ['mcp', 'serve']],
      [vim, run],
    ] as const) {
      const script = argv === run ? null : join(lab.agentDir, argv[0] ?? '')
      if (script !== null) writeFileSync(script, 'read x\n')
      const child = spawn(command, [...argv], {
        cwd: script === null ? lab.dir : lab.agentDir,
        stdio: ['pipe', 'ignore', 'ignore'],
        env: { PATH: process.env['PATH'] },
      })
      await until('it to be there', () => readOr(`/proc/${child.pid}/cmdline`).startsWith(command))
      const dir = script === null ? lab.dir : lab.agentDir
      expect([argv, (await lab.hf(['run', '--session', 's', '--dir', dir, '--detach', '--', 'true'])).code]).toEqual([argv, 0])
      expect(isAlive(child.pid ?? 0)).toBe(true)
      child.kill('SIGKILL')
    }
  }))

test('a title alone makes nobody an agent; a runtime that gave itself one is an agent', () =>
  inLab(async (lab) => {
    const start = () => lab.hf(lab.detached('s', 'sleep', '1000'))
    const titled = async (command: string, args: string[], argv0: string, body: (pid: number) => Promise<void>): Promise<void> => {
      const child = spawn(command, args, { argv0, cwd: lab.dir, stdio: 'ignore', env: { PATH: process.env['PATH'] } })
      const pid = child.pid ?? 0
      await until('its title', () => /^claude[ \0]/.test(readOr(`/proc/${pid}/cmdline`)))
      try {
        await body(pid)
      } finally {
        child.kill('SIGKILL')
        await gone(pid)
      }
    }
    const link = join(lab.newDir(), 'claude')
    symlinkSync('/bin/sleep', link)
    // A link gives the kernel's own name, too.
    for (const [command, title] of [
      ['sleep', 'claude'],
      ['sleep', 'claude --resume x'],
      [link, 'claude'],
    ] as const)
      await titled(command, ['1000'], title, async (pid) => {
        const { code, stderr } = await start()
        expect([title, code, stderr]).toEqual([title, 0, expect.not.stringContaining(String(pid))])
        const unmanaged = JSON.parse(await lab.ok(['ls', '--unmanaged', '--json'])) as { pid: number }[]
        expect(unmanaged.filter((one) => one.pid === pid)).toEqual([])
        await lab.ok(['stop', 's'])
      })
    await titled(process.execPath, ['-e', 'process.title = "claude"; setInterval(() => {}, 1e6)', 'x'], 'node', async (pid) => {
      const { code, stderr } = await start()
      expect([code, stderr]).toEqual(refused(pid))
    })
  }))

verifies('one-owner', 'nobody is retired for a start that an unmanaged agent keeps from beginning, and no lock by hand hides one', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', 'sleep', '1000'))
    const { pid: owner } = await lab.status('s')
    await stranger(lab.dir, program(lab, 'claude'), ['1000'], async ({ pid }) => {
      const refusal = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--takeover', '--detach', '--', 'true'])
      expect([refusal.code, refusal.stderr]).toEqual(refused(pid))
      expect(isAlive(owner)).toBe(true)
      await lab.ok(['stop', 's'])
      await lab.ok(['lock', lab.dir, '--pid', String(process.pid)])
      expect((await lab.hf(lab.detached('s', 'true'))).code).toBe(75)
    })
    await lab.ok(['unlock', lab.dir])
  }),
)

verifies('one-owner', 'adopt takes it in as it is, with its tree: no restart, and from then on a run like any other', () =>
  inLab(async (lab) => {
    const claude = program(lab, 'claude', '/bin/bash')
    // A tree: one child in a session of its own from before, and one that is born later.
    const script = `setsid sleep 1001 & echo $! >${lab.agentDir}/early.pid; read x <${lab.agentDir}/go; env -i setsid sleep 1002 & echo $! >${lab.agentDir}/late.pid; wait`
    const fifo = spawn('mkfifo', [join(lab.agentDir, 'go')])
    await new Promise((done) => fifo.once('exit', done))
    await stranger(lab.dir, claude, ['-c', script], async ({ pid }) => {
      const early = await lab.pid('early')
      expect((await lab.hf(lab.detached('s', 'true'))).code).toBe(75)
      expect(await lab.ok(['adopt', String(pid), '--session', 'taken'])).toContain(`adopted taken (pid ${pid})`)
      expect(await lab.status('taken')).toMatchObject({ state: 'running', pid, adopted: true, dir: lab.dir, liveness: 'alive' })
      writeFileSync(join(lab.agentDir, 'go'), 'x\n')
      const late = await lab.pid('late')
      const tree = JSON.parse(await lab.ok(['tree', 'taken', '--json'])) as { members: { pid: number; proof: string }[] }
      expect(tree.members.filter(({ pid: one }) => [pid, early, late].includes(one)).map(({ proof }) => proof)).toEqual([
        'marker',
        'marker',
        'marker',
      ])
      // It is managed now: the directory is held by the session, and it cannot be adopted twice.
      expect((await lab.hf(lab.detached('s', 'true'))).stderr).toContain('session taken')
      expect((await lab.hf(['adopt', String(pid)])).stderr).toContain('part of session taken')
      expect(await lab.ok(['stop', 'taken'])).toContain('seen gone')
      expect([pid, early, late].map(isAlive)).toEqual([false, false, false])
      expect(await lab.status('taken')).toMatchObject({ state: 'stopped' })
    })
  }),
)

verifies('evidence', 'an adopted agent that ends by itself is lost, since nobody saw how; what it left is ended, and its directory is free', () =>
  inLab(async (lab) => {
    const claude = program(lab, 'claude')
    // Its own parent reaps it at once, so not even a zombie tells.
    const parent = spawn('/bin/sh', ['-c', `cd ${lab.dir}; ${claude} 1000 </dev/null & echo $! >${lab.agentDir}/main.pid; wait; read x`], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: process.env['PATH'] },
    })
    const pid = await lab.pid('main')
    await lab.ok(['adopt', String(pid), '--name', 'mine'])
    process.kill(pid, 'SIGTERM')
    await gone(pid)
    const reason = 'it was adopted while it ran: nobody saw how it ended'
    await until('its end', async () => (await lab.status('mine')).state === 'lost')
    expect(await lab.status('mine')).toMatchObject({ state: 'lost', reason, exit: null })
    expect((await lab.hf(lab.detached('s', 'true'))).code).toBe(0)
    expect(isAlive(parent.pid ?? 0)).toBe(true)
    parent.kill('SIGKILL')
  }),
)

test('what cannot be adopted is told: nobody, what is no agent, what is managed, and a directory that is held', () =>
  inLab(async (lab) => {
    for (const [args, code] of [
      [[], 64],
      [['x'], 64],
      [['0'], 66],
      [['1'], 64],
      [['1', '--force'], 64],
      [['2', '--force'], 64],
      [['999999'], 66],
      [[String(process.pid)], 64],
    ] as const)
      expect([args, (await lab.hf(['adopt', ...args])).code]).toEqual([args, code])
    await lab.ok(lab.detached('s', program(lab, 'codex'), '1000'))
    expect((await lab.hf(['adopt', String((await lab.status('s')).pid)])).code).toBe(75)
    await stranger(lab.dir, program(lab, 'gemini'), ['1000'], async ({ pid }) => {
      expect((await lab.hf(['adopt', String(pid)])).stderr).toContain('session s')
      expect((await lab.hf(['adopt', String(pid), '--share', '--session', 'g'])).code).toBe(0)
      expect(await lab.ok(['status', 'g'])).toContain('shared with')
    })
  }))

verifies('innocent', 'what started the command itself is not adopted by force: a stop would end whoever asked', () =>
  inLab(async (lab) => {
    // A shell around a shell, both of this lab.
    const inner = `"${COMMAND}" adopt --json --force $OUTER 2>err; echo $? >rc; read x`
    const outer = spawn('/bin/sh', ['-c', `export OUTER=$$; /bin/sh -c '${inner}'; :`], {
      cwd: lab.agentDir,
      env: lab.env,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    expect(await until('its answer', () => readOr(join(lab.agentDir, 'rc')).trim())).toBe('64')
    const refusal = JSON.parse(readOr(join(lab.agentDir, 'err'))) as { id: string; message: string }
    expect(refusal).toMatchObject({ id: 'process-ancestor', message: expect.stringContaining(`pid ${outer.pid} (sh)`) as string })
    expect(JSON.parse(await lab.ok(['ls', '--all', '--json']))).toEqual([])
    // From elsewhere it is a process like any other.
    await lab.ok(['adopt', '--force', '--session', 'shell', String(outer.pid)])
    await lab.ok(['stop', 'shell', '--grace', '1s'])
    await gone(outer.pid ?? 0)
  }),
)

test('a managed agent, and one that our own command was started from, is no stranger', () =>
  inLab(async (lab) => {
    const claude = program(lab, 'claude', '/bin/bash')
    await lab.ok(
      lab.detached('s', claude, '-c', `"${COMMAND}" run --session kid --dir . --detach -- sleep 1000; echo $? >$FA_DIR/kid.rc; sleep 1000`),
    )
    expect(Number(await until('the kid', () => readOr(join(lab.agentDir, 'kid.rc')).trim()))).toBe(0)
    await lab.ok(['stop', 's'])
    const script = `"${COMMAND}" run --session own --dir . --detach -- sleep 1000; echo $? >$FA_DIR/own.rc; read x`
    const outside = spawn(claude, ['-c', script], { cwd: lab.dir, env: lab.env, stdio: ['pipe', 'ignore', 'ignore'] })
    expect(Number(await until('its run', () => readOr(join(lab.agentDir, 'own.rc')).trim()))).toBe(0)
    await lab.ok(['stop', 'own'])
    outside.stdin?.end()
    await gone(outside.pid ?? 0)
  }))

verifies('innocent', 'what another Holdfast home has inside an adopted agent is not taken in, and not ended with it', () =>
  inLab(async (lab) => {
    const claude = program(lab, 'claude', '/bin/bash')
    const home = lab.newDir()
    const elsewhere = lab.newDir()
    const script = `HOLDFAST_HOME=${home} "${COMMAND}" run --session y --dir ${elsewhere} -- sleep 1000 & echo $! >$FA_DIR/front.pid; read x`
    const outside = spawn(claude, ['-c', script], { cwd: lab.dir, env: lab.env, stdio: ['pipe', 'ignore', 'ignore'] })
    const inner = async (): Promise<number | null> => {
      const { stdout } = await lab.hf(['ls', '--json', '--home', home])
      return (JSON.parse(stdout) as { pid: number | null }[])[0]?.pid ?? null
    }
    const pid = await until('the run of the other home', inner)
    await lab.ok(['adopt', String(outside.pid), '--session', 'taken'])
    expect(await lab.ok(['stop', 'taken', '--grace', '1s'])).toMatch(/left \S+ \(pid \d+\) running: it carries the marker of another Holdfast home/)
    expect(isAlive(outside.pid ?? 0)).toBe(false)
    expect(isAlive(pid)).toBe(true)
    await lab.ok(['stop', 'y', '--home', home])
  }),
)

verifies('one-owner', 'what lives of our own session is no unmanaged agent, whatever its row says: a takeover ends it', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', program(lab, 'codex'), '1000'))
    const { pid } = await lab.status('s')
    const db = new (loadSqlite().DatabaseSync)(join(lab.home, 'holdfast.db'))
    db.exec(`UPDATE run SET state = 'lost', ended_at = 1, reason = 'forced', evidence = '[]', ended_by = 'a test'`)
    db.close()
    expect((await lab.hf(lab.detached('other', 'true'))).stderr).toContain('session s')
    expect((await lab.hf(['adopt', String(pid)])).stderr).toContain('part of session s')
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--takeover', '--detach', '--', 'sleep', '1000'])
    expect(isAlive(pid)).toBe(false)
  }),
)

verifies('one-owner', 'of several who adopt one agent at once, one does', () =>
  inLab(async (lab) => {
    await stranger(lab.dir, program(lab, 'claude'), ['1000'], async ({ pid }) => {
      const codes = await Promise.all([1, 2, 3, 4].map(async (one) => (await lab.hf(['adopt', String(pid), '--share', '--session', `s${one}`])).code))
      expect(codes.toSorted()).toEqual([0, 75, 75, 75])
      await lab.ok(['stop', '--all'])
      expect(isAlive(pid)).toBe(false)
    })
  }),
)

verifies('lock-life', 'an agent that dies while it is adopted leaves its tree held, not forgotten', () =>
  inLab(async (lab) => {
    const claude = program(lab, 'claude', '/bin/bash')
    await stranger(
      lab.dir,
      claude,
      ['-c', `for i in 1 2 3 4 5 6 7 8; do sleep 1000 & done; echo $! >${lab.agentDir}/child.pid; wait`],
      async ({ pid }) => {
        const child = await lab.pid('child')
        const adopting = lab.hf(['adopt', String(pid), '--session', 'taken'], {
          command: TEST_COMMAND,
          env: { HOLDFAST_FAILPOINTS: 'before:keepers.mark=delay:1000' },
        })
        await until('the claim', async () => (await lab.hf(['status', 'taken', '--json'])).code === 0)
        process.kill(pid, 'SIGKILL')
        expect((await adopting).stderr).toContain('holdfast stop taken')
        expect(isAlive(child)).toBe(true)
        expect((await lab.hf(lab.detached('s', 'true'))).code).toBe(75)
        await lab.ok(['stop', 'taken'])
        expect(isAlive(child)).toBe(false)
      },
    )
  }),
)

verifies(
  'one-owner',
  'what a shared daemon that was born inside a run does for others is theirs: it is seen, and not adopted, since it would be started again',
  () =>
    inLab(async (lab) => {
      const claude = program(lab, 'claude', '/bin/bash')
      const config = lab.newDir()
      const theirs = lab.newDir()
      mkdirSync(join(config, 'daemon'))
      // A stand-in for `claude daemon run` with one session of somebody else, as its roster tells.
      const pipe = join(lab.agentDir, 'pipe')
      const made = spawn('mkfifo', [pipe])
      await new Promise((done) => made.once('exit', done))
      writeFileSync(
        join(lab.dir, 'daemon'),
        `(cd ${theirs}; exec ${claude} -c 'read x <${pipe}' worker) & echo $! >$FA_DIR/worker.pid; read x <${pipe}\n`,
      )
      const run = ['run', '--session', 'born', '--dir', lab.dir, '--until', 'tree', '--detach', '--', 'sh', '-c', `${claude} daemon run & wait`]
      await lab.ok(run, { env: { CLAUDE_CONFIG_DIR: config } })
      const worker = await lab.pid('worker')
      const roster = { workers: { abc: { pid: worker, procStart: startOf(worker), cwd: theirs, startedAt: 1 } } }
      writeFileSync(join(config, 'daemon', 'roster.json'), JSON.stringify(roster))
      const refusal = await lab.hf(['run', '--session', 's', '--dir', theirs, '--detach', '--', 'true'])
      expect([refusal.code, refusal.stderr]).toEqual([75, expect.stringContaining(`claude (pid ${worker})`)])
      expect((await lab.hf(['adopt', String(worker)])).stderr).toContain('the marker of a run of session born, but is not of it')
      await lab.ok(['stop', 'born'])
      expect(isAlive(worker)).toBe(true)
      process.kill(worker, 'SIGKILL')
      // With the last reader of the pipe the daemon may be gone by itself.
      for (const { pid } of await leftWith(config)) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    }),
)

/** Those of our own stand-ins that were left alone. */
const leftWith = async (config: string): Promise<{ pid: number }[]> =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && readOr(`/proc/${name}/environ`).includes(`CLAUDE_CONFIG_DIR=${config}`))
    .map((name) => ({ pid: Number(name) }))

test('a worker that a daemon keeps is not adopted: it would be started again; it is told how it ends', () =>
  inLab(async (lab) => {
    const claude = program(lab, 'claude', '/bin/bash')
    const config = lab.newDir()
    mkdirSync(join(config, 'daemon'))
    writeFileSync(join(lab.agentDir, 'daemon'), 'read x\n')
    const env = { PATH: process.env['PATH'], CLAUDE_CONFIG_DIR: config }
    const daemon = spawn(claude, ['daemon', 'run'], { cwd: lab.agentDir, stdio: ['pipe', 'ignore', 'ignore'], env })
    await stranger(lab.dir, claude, ['-c', 'sleep 1000; :'], async ({ pid }) => {
      writeFileSync(
        join(config, 'daemon', 'roster.json'),
        JSON.stringify({ workers: { abc: { pid, procStart: startOf(pid), cwd: lab.dir, startedAt: 1 } } }),
      )
      const refusal = await lab.hf(['adopt', String(pid)])
      expect([refusal.code, refusal.stderr]).toEqual([
        75,
        expect.stringMatching(/Claude Code's daemon, which would start it again.*claude stop abc/s),
      ])
      for (const name of readOr(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)) process.kill(Number(name), 'SIGKILL')
    })
    daemon.kill('SIGKILL')
  }))
