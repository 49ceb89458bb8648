import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, rmdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { AGENT, COMMAND, collect, gone, inLab, isAlive, type Lab, nodeStartMs, readOr, stateOf, TEST_COMMAND, unable, until } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

/** An agent that writes down what it hears, and takes its time to leave. */
const LISTENER = `for s in TERM HUP INT QUIT USR1; do trap "echo $s >>$FA_DIR/heard" $s; done
trap 'echo TERM >>$FA_DIR/heard; sleep 0.5; exit 5' TERM
trap 'echo HUP >>$FA_DIR/heard; sleep 0.5; exit 6' HUP
echo $$ >$FA_DIR/main.pid
while :; do sleep 0.02; done`

const heard = (lab: Lab): string[] => readOr(join(lab.agentDir, 'heard')).split('\n').filter(Boolean)
/** In a group of its own, as a shell with job control would start it. */
const inGroup = (lab: Lab, ...argv: string[]) =>
  spawn(COMMAND, ['run', '--session', 's', '--dir', lab.dir, '--', ...argv], { env: lab.env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })

const childrenOf = (pid: number): number[] => readOr(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)

/** The command's Node, once a failpoint has stopped it. */
const frozenChild = (command: ChildProcess): Promise<number> =>
  until('the frozen launcher', () => childrenOf(command.pid ?? 0).find((pid) => stateOf(pid) === 'T'))

for (const [signal, code] of [
  ['TERM', 5],
  ['HUP', 6],
] as const) {
  for (const whom of ['the command', 'its whole group'] as const) {
    test(`${signal} to ${whom} reaches the agent once, and its own code comes back`, () =>
      inLab(async (lab) => {
        const child = inGroup(lab, 'bash', '-c', LISTENER)
        const done = collect(child)
        await lab.pid('main')
        const { keeper } = await lab.status('s')
        process.kill(whom === 'the command' ? keeper : -keeper, `SIG${signal}`)
        expect((await done).code).toBe(code)
        expect(heard(lab)).toEqual([signal])
        expect(await lab.status('s')).toMatchObject({
          state: 'stopped',
          exit: { code, signal: null },
          reason: `the holdfast command received SIG${signal}`,
        })
      }))
  }
}

const earOf = (keeper: number): number | null => childrenOf(keeper).find((pid) => isAlive(pid) && readOr(`/proc/${pid}/comm`) === 'cat\n') ?? null

test('INT, QUIT and USR1 reach the agent once, told to the command or to its group, again and again', () =>
  inLab(async (lab) => {
    const child = inGroup(lab, 'bash', '-c', LISTENER)
    const done = collect(child)
    await lab.pid('main')
    const { keeper } = await lab.status('s')
    const wanted: string[] = []
    for (const signal of ['INT', 'QUIT', 'USR1', 'INT'])
      for (const whom of [keeper, -keeper, -keeper, keeper]) {
        wanted.push(signal)
        const before = await until('an ear', () => earOf(keeper))
        process.kill(whom, `SIG${signal}`)
        await until(`${signal} number ${wanted.length}`, () => heard(lab).length >= wanted.length)
        // A second one would follow at once. What the group is told costs the keeper its ear: only with a new one has it seen to that, and two
        // signals that meet in one process are one.
        await until('the ear to be there again', () => (whom > 0 ? earOf(keeper) : earOf(keeper) !== before && earOf(keeper)))
      }
    expect(heard(lab)).toEqual(wanted)
    await lab.ok(['stop', 's'])
    expect((await done).code).toBe(5)
  }))

test('timeout(1) around us is what it is around the agent', () =>
  inLab(async (lab) => {
    for (let round = 0; round < 2; round++) {
      const child = spawn(
        'timeout',
        [
          '-s',
          'INT',
          '--preserve-status',
          // Long enough for the agent to listen by then, on a busy machine too.
          '3',
          COMMAND,
          'run',
          '--session',
          's',
          '--dir',
          lab.dir,
          '--',
          'bash',
          '-c',
          `trap 'echo INT >>$FA_DIR/heard; exit 4' INT; while :; do sleep 0.02; done`,
        ],
        { env: lab.env, stdio: ['ignore', 'pipe', 'pipe'] },
      )
      expect((await collect(child)).code).toBe(4)
      expect(heard(lab)).toHaveLength(round + 1)
    }
  }))

verifies('stop-proof', 'what an agent starts to clean up after TERM is not cut off', () =>
  inLab(async (lab) => {
    const script = `trap 'sh -c "sleep 0.6; echo clean >$FA_DIR/clean"; exit 5' TERM; echo $$ >$FA_DIR/main.pid; while :; do sleep 0.02; done`
    await lab.ok(lab.detached('s', 'bash', '-c', script))
    await lab.pid('main')
    await lab.ok(['stop', 's'])
    expect(readOr(join(lab.agentDir, 'clean'))).toBe('clean\n')
    expect(await lab.status('s')).toMatchObject({ state: 'stopped', exit: { code: 5 } })
    const child = inGroup(lab, 'bash', '-c', script.replaceAll('clean', 'tidy').replaceAll('main', 'again'))
    const done = collect(child)
    await lab.pid('again')
    child.kill('SIGTERM')
    expect((await done).code).toBe(5)
    expect(readOr(join(lab.agentDir, 'tidy'))).toBe('tidy\n')
  }),
)

verifies('stop-proof', 'the grace is for all, also after the agent itself has left, and nobody hears TERM twice', () =>
  inLab(async (lab) => {
    const child = `trap 'echo TERM >>$FA_DIR/heard; sleep 2; echo saved >$FA_DIR/saved; exit 0' TERM; echo $$ >$FA_DIR/child.pid; while :; do sleep 0.02; done`
    const agent = `bash -c '${child.replaceAll("'", `'\\''`)}' & trap 'exit 0' TERM; while :; do sleep 0.02; done`
    await lab.ok(lab.detached('s', 'bash', '-c', agent))
    await lab.pid('child')
    await lab.ok(['stop', 's', '--grace', '20s'])
    expect(readOr(join(lab.agentDir, 'saved'))).toBe('saved\n')
    expect(heard(lab)).toEqual(['TERM'])
    for (const name of ['saved', 'heard', 'child.pid']) rmSync(join(lab.agentDir, name))
    const command = inGroup(lab, 'bash', '-c', agent)
    const done = collect(command)
    await lab.pid('child')
    process.kill(-(command.pid ?? 0), 'SIGTERM')
    expect((await done).code).toBe(0)
    expect(readOr(join(lab.agentDir, 'saved'))).toBe('saved\n')
    expect(heard(lab)).toEqual(['TERM'])
  }),
)

test('an agent in a session of its own hears what its command’s group was told', () =>
  inLab(async (lab) => {
    const child = inGroup(lab, 'setsid', 'bash', '-c', LISTENER)
    const done = collect(child)
    await lab.pid('main')
    process.kill(-(child.pid ?? 0), 'SIGTERM')
    expect((await done).code).toBe(5)
    expect(heard(lab)).toEqual(['TERM'])
  }))

test('a signal to the group does not hide another one to the command', () =>
  inLab(async (lab) => {
    // Not bash, which itself loses a TERM right after an INT. One handler may interrupt another, so they only note what they heard.
    const hear = (name: string) => `$SIG{${name}} = sub { push @heard, '${name}' };`
    const tell = `my @now = splice @heard; open(H, ">>$ENV{FA_DIR}/heard"); print H "$_\\n" for @now; close H; exit 5 if grep { $_ eq 'TERM' } @now;`
    const listener = `${hear('INT')} ${hear('TERM')} open(F, ">$ENV{FA_DIR}/main.pid"); print F "$$\\n"; close F; while (1) { select undef, undef, undef, 0.05; if (@heard) { ${tell} } }`
    for (let round = 0; round < 3; round++) {
      const child = inGroup(lab, 'perl', '-e', listener)
      const done = collect(child)
      await lab.pid('main')
      const { keeper } = await lab.status('s')
      process.kill(-keeper, 'SIGINT')
      process.kill(keeper, 'SIGTERM')
      expect((await done).code).toBe(5)
      expect(heard(lab).sort()).toEqual(['INT', 'TERM'])
      for (const name of ['heard', 'main.pid']) rmSync(join(lab.agentDir, name))
    }
  }))

test('an exit code of 127 survives signals', () =>
  inLab(async (lab) => {
    const script = `$SIG{TERM} = sub { open(H, ">>$ENV{FA_DIR}/heard"); print H "TERM\\n"; close H; select undef, undef, undef, 0.1; exit 127 }; open(F, ">$ENV{FA_DIR}/main.pid"); print F "$$\\n"; close F; select undef, undef, undef, 0.01 while 1`
    const child = inGroup(lab, 'perl', '-e', script)
    const done = collect(child)
    await lab.pid('main')
    const { keeper } = await lab.status('s')
    process.kill(keeper, 'SIGTERM')
    await until('the exit to begin', () => heard(lab).length === 1)
    process.kill(keeper, 'SIGTERM')
    expect((await done).code).toBe(127)
    expect(await lab.status('s')).toMatchObject({ state: 'stopped', exit: { code: 127, signal: null } })
  }))

test('an agent whose first thread has left still hears what its command is told', () =>
  inLab(async (lab) => {
    const script = `import ctypes, os, signal, threading, time
def work():
    signal_file = os.environ['FA_DIR'] + '/main.pid'
    open(signal_file, 'w').write(str(os.getpid()))
    time.sleep(600)
threading.Thread(target=work).start()
ctypes.CDLL(None).syscall(60 if os.uname().machine == 'x86_64' else 93, 0)`
    if (spawnSync('python3', ['-c', '']).status !== 0) return unable('a process without its first thread needs python3')
    const child = inGroup(lab, 'python3', '-c', script)
    const done = collect(child)
    const pid = await lab.pid('main')
    await until('its first thread to be gone', () => stateOf(pid) === 'Z')
    const { keeper } = await lab.status('s')
    process.kill(keeper, 'SIGWINCH')
    process.kill(keeper, 'SIGTERM')
    expect((await done).code).toBe(143)
    expect(await lab.status('s')).toMatchObject({ state: 'stopped', exit: { signal: 'SIGTERM' } })
  }))

verifies('unknown', 'a wall clock that jumps ahead takes no time from a run', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--timeout', '1h', '--detach', '--', AGENT, 'idle'])
    const env = { NODE_OPTIONS: `--require ${resolve('test/fixtures/clock.cjs')}`, CLOCK_SHIFT_MS: String(2 * 86_400_000) }
    await lab.ok(['reconcile'], { env })
    expect(isAlive((await lab.status('s')).pid)).toBe(true)
    await lab.ok(['stop', 's'])
  }),
)

verifies('bounded', 'its time is over by its own age, whoever looks', () =>
  inLab(async (lab) => {
    // The timer cannot be started, so only a reconcile can end it.
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--timeout', '2s', '--detach', '--', AGENT, 'idle'])
    const { pid, run } = (await lab.status('s')) as unknown as { pid: number; run: string }
    const timer = Number.parseInt(await until('the timer', () => readOr(join(lab.home, 'runs', run, 'timer'))), 10)
    process.kill(timer, 'SIGSTOP')
    await until('two seconds of its life', async () => /\bs running -> stopped/.test(await lab.ok(['reconcile'])) || !isAlive(pid))
    await gone(pid)
    expect(await lab.status('s')).toMatchObject({ state: 'stopped', reason: 'its time was over (--timeout)' })
    await gone(timer)
  }),
)

verifies('evidence', 'a finisher that is killed leaves the end to the next: wait helps, stop renames nothing', () =>
  inLab(async (lab) => {
    for (const [session, verb] of [
      ['w', 'wait'],
      ['t', 'stop'],
    ] as const) {
      const dir = lab.newDir()
      const child = lab.start(
        ['run', '--session', session, '--dir', dir, '--', 'bash', '-c', `setsid sleep 1000 & echo $! >$FA_DIR/${session}.pid; exit 7`],
        {
          command: TEST_COMMAND,
          env: { HOLDFAST_FAILPOINTS: 'before:store.claims.recordExited=kill' },
        },
      )
      expect((await collect(child)).code).toBe(7)
      const left = await lab.pid(session)
      expect(isAlive(left)).toBe(true)
      expect((await lab.hf([verb, session], { timeoutMs: 60_000 })).code).toBe(verb === 'wait' ? 7 : 0)
      await gone(left)
      expect(await lab.status(session)).toMatchObject({ state: 'failed', exit: { code: 7, signal: null } })
    }
  }),
)

verifies('gate', 'a launcher that is frozen in the start window does not hold its session for good', () =>
  inLab(async (lab) => {
    const launcher = lab.start(lab.detached('s', AGENT, 'idle'), {
      command: TEST_COMMAND,
      env: { HOLDFAST_FAILPOINTS: 'before:store.claims.recordRunning=stop' },
    })
    const frozen = await frozenChild(launcher)
    const began = performance.now()
    await lab.ok(['stop', 's'])
    expect(performance.now() - began).toBeLessThan(4_000 + nodeStartMs() * 20)
    expect((await lab.status('s')).state).toBe('stopped')
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    process.kill(frozen, 'SIGCONT')
    expect((await collect(launcher)).code).toBe(75)
    expect(isAlive(pid)).toBe(true)
    expect(await lab.status('s')).toMatchObject({ state: 'running', epoch: 2 })
  }),
)

verifies('one-owner', 'a frozen keeper whose agent is gone is ended by the next claimant', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid, keeper } = await lab.status('s')
    process.kill(keeper, 'SIGSTOP')
    await until('the keeper to be stopped', () => stateOf(keeper) === 'T')
    process.kill(pid, 'SIGKILL')
    // Only the zombie tells how it ended: that is enough to be over.
    await until('the end', async () => (await lab.status('s')).state === 'failed')
    expect(stateOf(keeper)).toBe('T')
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    expect(isAlive(keeper)).toBe(false)
    expect(await lab.status('s')).toMatchObject({ state: 'running', epoch: 2 })
  }),
)

test('a directory that cannot be entered is named as the reason, and nothing is claimed', () =>
  inLab(async (lab) => {
    const closed = lab.newDir()
    chmodSync(join(closed, '..'), 0o755)
    chmodSync(closed, 0o600)
    const script =
      'HOLDFAST_HOME=$(mktemp -d); export HOLDFAST_HOME; "$0" run --dir "$1" -- true; echo "code=$?"; "$0" ls --all --json; rm -r "$HOLDFAST_HOME"'
    const root = process.getuid?.() === 0
    const nobody = root ? ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] : []
    const [program = '', ...argv] = [...nobody, 'bash', '-c', script, COMMAND, closed]
    const result = await collect(spawn(program, argv, { env: lab.env, stdio: ['ignore', 'pipe', 'pipe'], cwd: '/' }))
    expect(result.stderr).toBe(`holdfast: directory ${closed} cannot be entered: EACCES\n`)
    expect(result.stdout).toBe('code=66\n[]\n')
    chmodSync(closed, 0o700)
  }))

test('one that vanishes after the claim is told as such', () =>
  inLab(async (lab) => {
    const dir = lab.newDir()
    const child = lab.start(['run', '--session', 's', '--dir', dir, '--', 'true'], {
      command: TEST_COMMAND,
      env: { HOLDFAST_FAILPOINTS: 'before:keepers.handOver=stop' },
    })
    const done = collect(child)
    const launcher = await frozenChild(child)
    rmdirSync(dir)
    process.kill(launcher, 'SIGCONT')
    const result = await done
    expect(result).toMatchObject({ code: 125, stderr: `holdfast: could not start true: its directory ${dir} cannot be entered\n` })
    expect(await lab.status('s')).toMatchObject({ state: 'failed', reason: 'could not start true: its directory cannot be entered' })
  }))

verifies('stop-proof', 'an agent that adopts orphans can stop its own session', () =>
  inLab(async (lab) => {
    const prctl = process.arch === 'arm64' ? 167 : 157
    const script = `syscall(${prctl}, 36, 1, 0, 0, 0) == 0 or die; open(F, ">$ENV{FA_DIR}/main.pid"); print F "$$\\n"; close F;
      if (fork() == 0) { exec "${COMMAND}", "stop", "s" } sleep 1 while 1`
    await lab.ok(lab.detached('s', 'perl', '-e', script))
    await gone(await lab.pid('main'))
    await until('the end', async () => (await lab.status('s')).state === 'stopped')
  }),
)
