import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { AGENT, inLab, until } from './lab.ts'

test('status --json has the documented fields, for a live and an ended run', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 's', '--name', 'web', '--dir', lab.dir, '--detach', '--', AGENT, 'idle'])
    const live = (await lab.status('web')) as unknown as Record<string, unknown>
    const documented = [
      'session',
      'run',
      'epoch',
      'state',
      'liveness',
      'pid',
      'keeper',
      'dir',
      'harness',
      'nativeId',
      'argv',
      'startedAt',
      'endedAt',
      'exit',
      'reason',
      'evidence',
      'owner',
      'parent',
      'tasks',
      'usage',
    ]
    for (const field of documented) expect(live, field).toHaveProperty(field)
    expect(live).toMatchObject({
      session: 's',
      epoch: 1,
      state: 'running',
      liveness: 'alive',
      pid: await lab.pid('main'),
      dir: lab.dir,
      argv: [AGENT, 'idle'],
      endedAt: null,
      exit: null,
      reason: null,
      owner: { pid: await lab.pid('main'), tty: null, attach: 'holdfast attach s' },
    })
    await lab.ok(['stop', 's'])
    expect(await lab.status('s')).toMatchObject({ liveness: 'dead', owner: null, endedAt: expect.any(String) as string })
    expect(JSON.parse(await lab.ok(['ls', '--json']))).toEqual([])
    expect(JSON.parse(await lab.ok(['ls', '--all', '--json']))).toMatchObject([{ session: 's', state: 'stopped' }])
  }))

test('text is aligned, short and without colours where nobody looks', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('a', 'sleep', '1000'))
    await lab.ok(['run', '--session', 'longer-name', '--dir', lab.newDir(), '--', 'true'])
    // Agents of others on this machine are below an empty line.
    const [head, ...rows] = ((await lab.ok(['ls', '--all'])).split('\n\n')[0] ?? '').trimEnd().split('\n')
    expect(head).toMatch(/^SESSION +STATE +PID +AGE +DIRECTORY +AGENT +COMMAND$/)
    expect(rows).toHaveLength(2)
    expect(rows.map((row) => row.indexOf(' running') + row.indexOf(' completed'))).not.toContain(-2)
    expect(new Set(rows.map((row) => row.search(/running|completed/))).size).toBe(1)
    expect(`${head}${rows.join('')}`).not.toContain('\u001B')
    const narrow = await lab.ok(['ls', '--all'], { env: { COLUMNS: '60' } })
    expect(narrow).toMatch(/^SESSION +STATE +AGE +DIRECTORY +AGENT +ABOUT$/m)
    expect(narrow.split('\n').filter((line) => line.length > 60)).toEqual([])
    expect(await lab.ok(['status', 'a', '--verbose'])).toMatch(/^a running\n {2}run +r[0-9a-f]{12} \(epoch 1\)\n/)
    const brief = await lab.ok(['status', 'a'])
    expect(brief.trimEnd().split('\n').length).toBeLessThanOrEqual(6)
    expect(brief).not.toMatch(/epoch|keeper|marker|containment/)
    expect(await lab.ok(['tree', 'a'])).toMatch(/^PID +STATE +PROOF +PORTS +NAME\n\d+ +S +(cgroup|marker) +- +sleep\n$/)
    expect(await lab.ok(['locks'])).toContain('an agent works here')
    expect(await lab.ok(['events', 'a'])).toMatch(/^\d\d:\d\d:\d\d {2}a claimed: sleep in .*\n.*a running\n/)
    expect(await lab.ok(['events', 'a', '-n', '1'])).toMatch(/^earlier ones: holdfast events a -n 5\n\S+ {2}a running\n$/)
    expect(await lab.ok(['events', 'a', '--since', '0s'])).toBe('no events\n')
    expect(JSON.parse(await lab.ok(['events', 'a', '--json']))).toHaveLength(2)
    expect(JSON.parse(await lab.ok(['events', 'a', '--json', '-n', '1']))).toMatchObject([{ kind: 'running' }])
    expect(await lab.refused(['events', '-n', '0'])).toMatchObject({ id: 'option-value-invalid' })
  }))

verifies('lock-life', 'locks lists the directory of a live run, and nothing once it ended', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const pid = await lab.pid('main')
    expect(JSON.parse(await lab.ok(['locks', '--json']))).toMatchObject([
      { dir: lab.dir, pid, session: 's', kind: 'run', reason: expect.any(String) as string, since: expect.any(String) as string },
    ])
    const { keeper } = await lab.status('s')
    process.kill(keeper, 'SIGKILL')
    process.kill(pid, 'SIGKILL')
    await until('the lock to be free at a look', async () => (JSON.parse(await lab.ok(['locks', '--json'])) as unknown[]).length === 0)
  }),
)

test('logs shows what a detached run wrote, follows it, and counts lines; a foreground run has none', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', 'sh', '-c', 'for i in 1 2 3; do echo line $i; done; echo oops >&2; sleep 0.5; echo last'))
    await until('the first lines', async () => (await lab.ok(['logs', 's'])).includes('oops'))
    expect(await lab.ok(['logs', 's', '-f'])).toBe('line 1\nline 2\nline 3\noops\nlast\n')
    expect(await lab.ok(['logs', 's', '-n', '2'])).toBe('oops\nlast\n')
    expect(await lab.ok(['logs', 's', '-n', '0'])).toBe('')
    await lab.ok(['run', '--session', 'f', '--dir', lab.dir, '--', 'true'])
    expect((await lab.hf(['logs', 'f'])).code).toBe(66)
  }))

verifies('bounded', 'a log is capped by whoever looks, and the agent goes on', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'chatty', '45000000'))
    const runs = join(lab.home, 'runs')
    const size = (): number =>
      readdirSync(runs)
        .flatMap((run) =>
          readdirSync(join(runs, run))
            .filter((name) => name.startsWith('log'))
            .map((name) => statSync(join(runs, run, name)).size),
        )
        .reduce((a, b) => a + b, 0)
    await until('the output', () => size() >= 45_000_000)
    await lab.ok(['ls'])
    expect(size()).toBeLessThanOrEqual(2 * 10 * 1024 * 1024)
    expect(await lab.status('s')).toMatchObject({ state: 'running' })
    await lab.ok(['stop', 's'])
  }),
)

test('attach follows a detached run to its end, and refuses what it cannot join', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', 'sh', '-c', 'echo hello; sleep 0.7; echo bye'))
    const attached = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--attach', '--', 'true'])
    expect(attached).toMatchObject({ code: 0, stdout: 'hello\nbye\n' })
    expect((await lab.hf(['attach', 's'])).code).toBe(66)
    const foreground = lab.start(['run', '--session', 'f', '--dir', lab.dir, '--', AGENT, 'idle'])
    await lab.pid('main')
    const refused = await lab.hf(['attach', 'f'])
    expect(refused.code).toBe(75)
    expect(refused.stderr).toMatch(/can be taken over, not attached/)
    expect((await lab.hf(['run', '--session', 'f', '--dir', lab.dir, '--attach', '--detach', '--', 'true'])).code).toBe(75)
    await lab.ok(['stop', 'f'])
    expect(foreground.exitCode ?? 143).toBe(143)
  }))

verifies('clean-env', "no other agent's session reaches the child; configuration does; ours is set", () =>
  inLab(async (lab) => {
    const bait = {
      CLAUDECODE: '1',
      CLAUDE_CODE_SESSION_ID: 'x',
      CODEX_THREAD_ID: 'x',
      GEMINI_SESSION_ID: 'x',
      CLAUDE_BG_JOB: 'x',
      OLDPWD: '/bait',
      HOLDFAST_SESSION: 'someone',
      HOLDFAST_RUN: 'r000000000000',
    }
    const keep = { ANTHROPIC_API_KEY: 'k', CODEX_HOME: '/c', CLAUDE_CONFIG_DIR: '/d', MY_THING: "it's\nmine" }
    for (const detach of [[], ['--detach']]) {
      const out = join(lab.agentDir, `env${detach.length}`)
      await lab.ok(
        ['run', '--session', 's', '--dir', lab.dir, ...detach, '--', 'sh', '-c', `tr '\\0' '\\1' </proc/self/environ >${out}.t; mv ${out}.t ${out}`],
        { env: { ...bait, ...keep }, cwd: '/' },
      )
      const { readFileSync } = await import('node:fs')
      const environ = await until('the environment', () => {
        try {
          return Object.fromEntries(
            readFileSync(out, 'utf8')
              .split('\u0001')
              .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
          )
        } catch {
          return null
        }
      })
      for (const name of Object.keys(bait)) if (!name.startsWith('HOLDFAST_')) expect(environ, name).not.toHaveProperty(name)
      expect(environ).toMatchObject({ ...keep, HOLDFAST_SESSION: 's', PWD: lab.dir })
      for (const name of ['HOLDFAST_RUN', 'HOLDFAST_EPOCH', 'HOLDFAST_FENCE', 'HOLDFAST_LINEAGE']) expect(environ[name], name).toBeTruthy()
      expect(environ).not.toHaveProperty('HOLDFAST_FRONT')
      await until('the end', async () => (await lab.status('s')).state === 'completed')
    }
  }),
)

verifies('private', 'everything in the home is closed to others, whatever the umask', () =>
  inLab(async (lab) => {
    const { spawnSync } = await import('node:child_process')
    const shell = (script: string) => spawnSync('bash', ['-c', `umask 000; ${script}`], { env: lab.env, encoding: 'utf8' })
    const hf = join(process.cwd(), 'bin/holdfast')
    shell(
      `${hf} run --session a --dir ${lab.dir} -- true; ${hf} run --session b --dir ${lab.dir} -- /nonexistent; ${hf} run --session c --timeout 1h --dir ${lab.dir} --detach -- sleep 1000; ${hf} stop c`,
    )
    const walk = (path: string): string[] =>
      readdirSync(path, { withFileTypes: true }).flatMap((entry) => [
        join(path, entry.name),
        ...(entry.isDirectory() ? walk(join(path, entry.name)) : []),
      ])
    const open = [lab.home, ...walk(lab.home)].filter((path) => (statSync(path).mode & 0o077) !== 0)
    expect(open).toEqual([])
    expect(walk(lab.home).length).toBeGreaterThan(15)
  }),
)
