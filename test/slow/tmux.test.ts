import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Hosted, inHostedLab, TYPIST } from '../real/hosted.ts'
import { AGENT, COMMAND, gone, isAlive, type Lab, readOr, stateOf, unable, until } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

const marker = (pid: number): string => /^Max realtime timeout\s+(\S+)/m.exec(readOr(`/proc/${pid}/limits`))?.[1] ?? ''
const sessionOf = (pid: number): number =>
  Number(
    readOr(`/proc/${pid}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ')[3],
  )
const longHome = (lab: Lab): string => join(dirname(lab.home), 'h'.repeat(100))
const shortSocket = (home: string): string =>
  `/tmp/holdfast-${process.geteuid?.()}/${createHash('sha256').update(home).digest('hex').slice(0, 24)}/sock`
const age = (path: string): void => utimesSync(path, 1000, 1000)
const servers = (lab: Hosted): number => lab.server() ?? 0

verifies('clean-env', 'hosted: the server has nothing of its caller, the agent has all of it, and no secret is in an argv or on disk', () =>
  inHostedLab(async (lab) => {
    const secret = `two\nlines 'quoted' "twice" $HOME \`x\` \\ ü ${'x'.repeat(100_000)}`
    const env = { SECRET: secret, CLAUDECODE: '1', TMUX: '/nowhere,1,0', TMUX_PANE: '%9', COLUMNS: '17', IFS: 'x', UID: '12', TERM_PROGRAM: 'outer' }
    await lab.ok(lab.hosted('s', 'sh', '-c', 'env -0 >"$FA_DIR/environ"; cat'), { env })
    const environ = await until('its environment', () => readOr(join(lab.agentDir, 'environ')))
    const given = new Map(
      readFileSync(join(lab.agentDir, 'environ'), 'utf8')
        .split('\0')
        .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    )
    expect(environ).not.toBe('')
    expect(given.get('SECRET')).toBe(secret)
    expect([given.get('HOLDFAST_SESSION'), given.get('TERM_PROGRAM'), given.get('UID')]).toEqual(['s', 'tmux', '12'])
    expect(given.get('TERM')).toMatch(/^(tmux|screen)-256color$/)
    for (const name of ['CLAUDECODE', 'TMUX', 'TMUX_PANE', 'COLUMNS', 'IFS', 'HOLDFAST_FRONT']) expect(given.has(name), name).toBe(false)
    const server = servers(lab)
    const { keeper, run } = (await lab.status('s')) as unknown as { keeper: number; run: string }
    for (const pid of [server, keeper]) {
      expect(readOr(`/proc/${pid}/environ`)).not.toMatch(/HF_LAB|SECRET|CLAUDECODE|HOLDFAST_LINEAGE/)
      expect(readOr(`/proc/${pid}/cmdline`)).not.toContain('quoted')
    }
    const files = readdirSync(join(lab.home, 'runs', run), { withFileTypes: true }).filter((entry) => entry.isFile())
    for (const { name } of files) expect(readOr(join(lab.home, 'runs', run, name)), name).not.toContain('quoted')
    await lab.ok(['stop', 's'])
  }),
)

verifies('identity', 'the keeper is the pane’s own process; its server is of no run: own session, own marker, own directory', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('s', AGENT, 'idle'))
    const { keeper, pid, tmux, detached, owner } = (await lab.status('s')) as unknown as {
      keeper: number
      pid: number
      tmux: { socket: string; session: string }
      detached: boolean
      owner: { attach: string }
    }
    const server = servers(lab)
    expect(tmux.socket).toBe(lab.socket)
    expect(detached).toBe(true)
    expect(owner.attach).toBe('holdfast attach s')
    expect(lab.tmux('list-panes', '-a', '-F', '#{session_name} #{pane_pid} #{pid}').trim()).toBe(`${tmux.session} ${keeper} ${server}`)
    expect(sessionOf(server)).toBe(server)
    expect(sessionOf(keeper)).toBe(keeper)
    expect(readlinkSync(`/proc/${server}/cwd`)).toBe('/')
    expect(new Set([marker(server), marker(keeper), marker(pid)]).size).toBe(3)
    expect(readOr(`/proc/${pid}/status`)).toMatch(/^SigIgn:\s*0{16}$/m)
    expect(await lab.ok(['status', 's', '--verbose'])).toContain(`session ${tmux.session} at ${lab.socket}`)
    const { members } = JSON.parse(await lab.ok(['tree', 's', '--json'])) as { members: { pid: number }[] }
    expect(members.map((member) => member.pid)).toEqual([pid])
    await lab.ok(['stop', 's'])
  }),
)

verifies('evidence', 'the end of the agent is the end of its pane and its run, with its code; what it showed is kept', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('s', 'sh', '-c', 'echo its last words; read -r word; exit 7'))
    await lab.sees('s', 'its last words')
    expect((await lab.hf(['logs', 's', '-f'])).stderr).toContain('holdfast attach s')
    await lab.type('s', 'go', 'Enter')
    expect((await lab.hf(['wait', 's', '--timeout', '20s'])).code).toBe(7)
    expect(await lab.status('s')).toMatchObject({ state: 'failed', exit: { code: 7 } })
    expect(await lab.ok(['logs', 's'])).toBe('its last words\ngo\n')
    await until('its pane to be gone', () => lab.server() === null)
  }),
)

verifies('stop-proof', 'stop ends the whole tree and closes that pane, and no other', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('other', 'sleep', '1000'))
    await lab.ok(lab.hosted('s', AGENT, 'tree'))
    const children = await Promise.all(['plain', 'setsid', 'scrubbed'].map((name) => lab.pid(name)))
    const name = await lab.tmuxOf('s')
    await lab.ok(['stop', 's'])
    for (const pid of children) expect(isAlive(pid), String(pid)).toBe(false)
    expect(lab.tmux('list-sessions', '-F', '#{session_name}')).not.toContain(name)
    expect((await lab.status('other')).state).toBe('running')
    // Even where somebody had its pane stay.
    await lab.ok(lab.hosted('s', AGENT, 'idle'))
    const again = await lab.tmuxOf('s')
    lab.tmux('set-option', '-w', '-t', `=${again}:`, 'remain-on-exit', 'on')
    await lab.ok(['stop', 's'])
    expect(lab.tmux('list-sessions', '-F', '#{session_name}')).not.toContain(again)
  }),
)

verifies('evidence', 'a pane that is closed by hand ends its run, tree and all, and the record says why', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('other', 'sleep', '1000'))
    await lab.ok(lab.hosted('s', AGENT, 'tree'))
    const children = await Promise.all(['plain', 'setsid', 'scrubbed'].map((name) => lab.pid(name)))
    lab.tmux('kill-session', '-t', `=${await lab.tmuxOf('s')}`)
    await lab.hf(['wait', 's', '--timeout', '30s'])
    for (const pid of children) await gone(pid)
    expect(await lab.status('s')).toMatchObject({ state: 'stopped', reason: 'its tmux pane was closed', endedBy: 'SIGHUP' })
    expect((await lab.status('other')).state).toBe('running')
  }),
)

verifies('evidence', 'a tmux server that is killed ends its runs, also those that ignore it; its socket is no obstacle', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('stubborn', AGENT, 'stubborn'))
    const stubborn = await lab.pid('main')
    await lab.ok(lab.hosted('tree', AGENT, 'tree'))
    const children = await Promise.all(['setsid', 'scrubbed'].map((name) => lab.pid(name)))
    const server = servers(lab)
    process.kill(server, 'SIGKILL')
    for (const session of ['stubborn', 'tree']) {
      await lab.hf(['wait', session, '--timeout', '30s'])
      expect(await lab.status(session)).toMatchObject({
        state: 'stopped',
        reason: 'its tmux pane was closed: its tmux server is gone',
        endedBy: 'tmux',
      })
    }
    for (const pid of [stubborn, ...children]) await gone(pid)
    expect(existsSync(lab.socket)).toBe(true)
    await lab.ok(lab.hosted('tree', AGENT, 'idle'))
    expect(servers(lab)).not.toBe(server)
    await lab.ok(['stop', 'tree'])
    await until('its server to leave', () => lab.server() === null)
    // One that is young may be of a server that is just coming up.
    expect(await lab.ok(['prune'])).not.toContain(lab.socket)
    age(lab.socket)
    expect(await lab.ok(['prune'])).toContain(lab.socket)
    expect(existsSync(lab.socket)).toBe(false)
  }),
)

verifies('one-owner', 'five at once make one server, each its own pane', () =>
  inHostedLab(async (lab) => {
    const names = ['a', 'a.1', 'a-1', 'a_1', 'b']
    const started = await Promise.all(names.map((name) => lab.hf(lab.hosted(name, 'sleep', '1000'), { timeoutMs: 60_000 })))
    for (const { code, stderr } of started) expect(code, stderr).toBe(0)
    const panes = lab.tmux('list-panes', '-a', '-F', '#{pid}').trim().split('\n')
    expect(panes).toHaveLength(5)
    expect(new Set(panes).size).toBe(1)
    // Exact names: what is called like the beginning of another is not meant.
    await lab.ok(['stop', 'a'])
    expect(lab.tmux('list-panes', '-a', '-F', '#{pid}').trim().split('\n')).toHaveLength(4)
    expect((await lab.hf(['run', '--session', 'b', '--tmux', '--detach', '--', 'true'])).stderr).toMatch(/in tmux\) since .*\n.*holdfast attach b/)
  }),
)

test('Ctrl-C reaches the agent once, Ctrl-Z does not leave it stopped, and a pane follows its size', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('cooked', 'sh', '-c', 'trap "echo INT" INT; echo ready; while :; do sleep 0.1; done'))
    await lab.sees('cooked', 'ready')
    await lab.type('cooked', 'C-c')
    await lab.sees('cooked', 'INT')
    await lab.ok(lab.hosted('s', ...TYPIST))
    await lab.sees('s', 'ready')
    await lab.type('s', 'C-z')
    await lab.sees('s', '[goes on]')
    lab.tmux('resize-window', '-t', `=${await lab.tmuxOf('s')}:`, '-x', '77', '-y', '20')
    await lab.sees('s', '[77 wide]')
    await lab.type('s', 'C-c')
    expect((await lab.hf(['wait', 's', '--timeout', '20s'])).code).toBe(3)
    expect((await lab.screen('cooked')).match(/INT/g)).toHaveLength(1)
    // One that is being ended may be frozen on the way.
    const { pid } = await lab.status('cooked')
    await lab.ok(['stop', 'cooked', '--grace', '1s'])
    expect(stateOf(pid)).toBeNull()
  }))

test('a time limit, a tree that outlives its agent, and a restart are as everywhere', () =>
  inHostedLab(async (lab) => {
    const run = (session: string, ...options: string[]) => [
      'run',
      '--session',
      session,
      '--dir',
      lab.dir,
      '--share',
      '--tmux',
      '--detach',
      ...options,
    ]
    await lab.ok([...run('short', '--timeout', '1s'), '--', 'sleep', '1000'])
    await lab.hf(['wait', 'short', '--timeout', '30s'])
    expect(await lab.status('short')).toMatchObject({ state: 'stopped', endedBy: 'timeout' })
    await lab.ok([
      ...run('tree', '--until', 'tree'),
      '--',
      'sh',
      '-c',
      '(sleep 1000 & echo $! >"$FA_DIR/left.pid"; wait; echo the last word) & echo the first',
    ])
    const left = await lab.pid('left')
    await until('its agent to be over', async () => (await lab.ok(['status', 'tree'])).includes('--until tree'))
    expect(isAlive(left)).toBe(true)
    expect(await lab.tmuxOf('tree')).not.toBe('')
    process.kill(left, 'SIGKILL')
    await lab.hf(['wait', 'tree', '--timeout', '30s'])
    expect(await lab.status('tree')).toMatchObject({ state: 'completed' })
    await until('all that it showed to be kept', async () => (await lab.ok(['logs', 'tree'])) === 'the first\nthe last word\n')
    await lab.ok(lab.hosted('again', AGENT, 'idle'))
    const first = await lab.tmuxOf('again')
    await lab.ok(['restart', 'again', '--share'])
    expect(await lab.tmuxOf('again')).not.toBe(first)
    expect(lab.tmux('list-sessions', '-F', '#{session_name}')).not.toContain(first)
  }))

verifies('innocent', 'a server that was first started inside a session outlives it; what was started in that session does not', () =>
  inHostedLab(async (lab) => {
    const inner = (session: string, ...options: string[]) =>
      `"$HOLDFAST" run --session ${session} --dir ${lab.newDir()} --tmux --detach ${options.join(' ')} -- sleep 1000`
    const script = `${inner('nested')} >"$FA_DIR/log" 2>&1; ${inner('free', '--independent')} >>"$FA_DIR/log" 2>&1; echo $$ >"$FA_DIR/outer.pid"; sleep 1000`
    await lab.ok(lab.detached('outer', 'sh', '-c', script), { env: { HOLDFAST: join(process.cwd(), 'bin/holdfast') } })
    await lab.pid('outer')
    const server = servers(lab)
    expect(server, readOr(join(lab.agentDir, 'log'))).toBeGreaterThan(1)
    await lab.ok(['stop', 'outer'])
    expect(await lab.status('nested')).toMatchObject({ state: 'stopped' })
    expect(await lab.status('free')).toMatchObject({ state: 'running' })
    expect(servers(lab)).toBe(server)
  }),
)

verifies('private', 'a home whose path is too long for a socket has it in a private folder of the user', () =>
  inHostedLab(
    async (lab) => {
      const home = longHome(lab)
      const at = { env: { HOLDFAST_HOME: home } }
      await lab.ok(lab.hosted('s', 'sleep', '1000'), at)
      const { tmux } = JSON.parse(await lab.ok(['status', 's', '--json'], at)) as { tmux: { socket: string } }
      expect(tmux.socket).toBe(lab.socket)
      expect(await lab.ok(['prune', '--dry-run'], at)).not.toContain(dirname(lab.socket))
      await lab.ok(['stop', 's'], at)
      await until('its server to leave', () => lab.server() === null)
      age(lab.socket)
      expect(await lab.ok(['prune'], at)).toContain(`${dirname(lab.socket)}`)
      expect(existsSync(dirname(lab.socket))).toBe(false)
    },
    (lab) => shortSocket(longHome(lab)),
  ),
)

test('a new home may hold a tmux.conf before anything else', () =>
  inHostedLab(async (lab) => {
    mkdirSync(lab.home, { mode: 0o700 })
    writeFileSync(join(lab.home, 'tmux.conf'), 'set -g @mine yes\n')
    await lab.ok(lab.hosted('s', 'sleep', '1000'))
    expect(lab.tmux('show-options', '-gv', '@mine').trim()).toBe('yes')
  }))

verifies('evidence', 'a socket that was swept away, with its folder, is made anew: nobody is hidden by that', () =>
  inHostedLab(
    async (lab) => {
      const at = { env: { HOLDFAST_HOME: longHome(lab) } }
      await lab.ok(lab.hosted('s', ...TYPIST), at)
      const server = servers(lab)
      const sweep = (): void => rmSync(dirname(lab.socket), { recursive: true })
      const shown = (): Promise<boolean> => lab.hf(['logs', 's'], at).then(({ stdout }) => stdout.includes('ready'))
      await until('it to be ready', shown)
      sweep()
      expect(await lab.ok(['logs', 's'], at)).toContain('ready')
      sweep()
      expect(await lab.ok(['send', 's', 'hello there'], at)).toContain('was typed to')
      sweep()
      await lab.ok(lab.hosted('other', 'sleep', '1000'), at)
      expect(lab.tmux('list-panes', '-a', '-F', '#{pid}')).toBe(`${server}\n${server}\n`)
      sweep()
      await lab.ok(['stop', 's', 'other'], at)
    },
    (lab) => shortSocket(longHome(lab)),
  ),
)

verifies('private', 'a folder for its socket that is not ours is refused before anything is claimed', () =>
  inHostedLab(async (lab) => {
    await lab.ok(['ls'])
    symlinkSync(lab.dir, join(lab.home, 'tmux'))
    const refused = await lab.hf(lab.hosted('s', 'sleep', '1000'))
    expect([refused.code, refused.stderr]).toEqual([
      69,
      expect.stringMatching(/needs \S+\/tmux as a private folder, and it is no folder: have it removed/),
    ])
    expect(refused.stderr).not.toContain('install')
    expect((await lab.hf(['status', 's'])).code).toBe(66)
  }),
)

verifies('evidence', 'an agent that stops itself again and again goes on each time, a few times a second', () =>
  inHostedLab(async (lab) => {
    const stops =
      'import os, signal\nfor n in range(4):\n  os.kill(os.getpid(), signal.SIGSTOP)\n  print("on", n, flush=True)\nos.setpgid(0, 0)\nos.read(0, 1)'
    await lab.ok(lab.hosted('s', 'python3', '-c', stops))
    const { pid } = await lab.status('s')
    await lab.sees('s', 'on 3')
    // From here on it reads from the background, and is stopped whenever it goes on.
    const moves = (): number => Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readOr(`/proc/${pid}/status`))?.[1])
    const before = moves()
    const began = performance.now()
    await until('it to go on a few times', () => moves() - before >= 4)
    expect((moves() - before) / ((performance.now() - began) / 1000)).toBeLessThan(25)
    await lab.ok(['stop', 's'])
  }),
)

verifies('clean-env', 'hosted: an agent has the limits of its own caller, and not of whoever came first to the server', () =>
  inHostedLab(async (lab) => {
    const from = (limits: string, session: string) =>
      lab.ok(['-c', `${limits}; exec nice -n "$HF_NICE" "$0" "$@"`, COMMAND, ...lab.hosted(session, 'sleep', '1000')], {
        command: 'sh',
        env: { HF_NICE: session === 'first' ? '0' : '3' },
      })
    const limitsOf = async (session: string): Promise<string[]> => {
      const { pid } = await lab.status(session)
      const soft = (name: string): string => new RegExp(`^Max ${name}\\s+(\\S+)`, 'm').exec(readOr(`/proc/${pid}/limits`))?.[1] ?? ''
      return [soft('open files'), soft('stack size'), String(getPriority(pid) - getPriority())]
    }
    await from('ulimit -Sn 300; ulimit -Ss 4096', 'first')
    await from('ulimit -Sn 400; ulimit -Ss 2048', 'second')
    expect(await limitsOf('first')).toEqual(['300', String(4096 * 1024), '0'])
    expect(await limitsOf('second')).toEqual(['400', String(2048 * 1024), '3'])
  }),
)

verifies('identity', 'hosted: a server in other namespaces than the caller is refused before anybody is ended for it', () =>
  inHostedLab(async (lab) => {
    await lab.ok(lab.hosted('s', 'sleep', '1000'))
    const { pid } = await lab.status('s')
    // From a user namespace of his own nobody may look at what is outside of it.
    const [unshare, where] =
      process.geteuid?.() === 0 ? ['-n', /another net namespace than this command/] : ['-Urn', /namespaces that cannot be looked at from here/]
    const refused = await lab.hf([unshare, COMMAND, 'run', '--takeover', ...lab.hosted('s', 'sleep', '1000').slice(1)], { command: 'unshare' })
    expect([refused.code, refused.stderr]).toEqual([69, expect.stringMatching(where)])
    expect(refused.stderr).toContain('--home')
    expect(await lab.status('s')).toMatchObject({ state: 'running', pid })
  }),
)

verifies('unknown', 'hosted: a server whose namespaces cannot be looked at is refused before anybody is ended for it', () =>
  inHostedLab(async (lab) => {
    if (process.geteuid?.() !== 0) return unable('only root has a capability to give up')
    // Its server would not leave with the one that is taken over.
    await lab.ok(lab.hosted('other', 'sleep', '1000'))
    await lab.ok(lab.hosted('s', 'sleep', '1000'))
    const { pid } = await lab.status('s')
    // Whoever has fewer capabilities than a process may not look at it.
    const without = ['--bounding-set=-sys_ptrace', '--inh-caps=-sys_ptrace', COMMAND]
    const refused = await lab.hf([...without, 'run', '--takeover', ...lab.hosted('s', 'sleep', '1000').slice(1)], { command: 'setpriv' })
    expect([refused.code, refused.stderr]).toEqual([69, expect.stringMatching(/namespaces that cannot be looked at from here[\s\S]*--home/)])
    expect(await lab.status('s')).toMatchObject({ state: 'running', pid })
  }),
)
