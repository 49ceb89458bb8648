import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { AGENT, COMMAND, collect, gone, inLab, inNamespace, isAlive, readOr, TEST_COMMAND, unable, until } from './lab.ts'

verifies('stop-proof', 'stop ends the whole tree, names what it ended, and finds it gone', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'tree'))
    const pids = await Promise.all(['main', 'plain', 'setsid', 'scrubbed'].map(lab.pid))
    const tree = JSON.parse(await lab.ok(['tree', 's', '--json'])) as { members: { pid: number; proof: string }[] }
    expect(tree.members.map(({ pid }) => pid).sort()).toEqual([...pids].sort())
    const out = await lab.ok(['stop', 's'])
    expect(out).toMatch(/^s stopped: ended 4 processes, seen gone: /)
    for (const pid of pids) expect(isAlive(pid)).toBe(false)
    expect(await lab.status('s')).toMatchObject({
      state: 'stopped',
      exit: { signal: 'SIGTERM' },
      reason: expect.stringMatching(/^stopped by /) as string,
    })
    expect(await lab.status('s')).toMatchObject({
      evidence: expect.arrayContaining([expect.stringMatching(/^ended with it: .*sleep \(pid \d+\)/)]) as string[],
    })
    expect(await lab.ok(['stop', 's'])).toMatch(/not running/)
  }),
)

verifies('stop-proof', 'an agent that ignores TERM is killed after its grace; one that goes at once costs none', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('stubborn', AGENT, 'stubborn'))
    const pid = await lab.pid('main')
    let began = performance.now()
    await lab.ok(['stop', 'stubborn', '--grace', '1s'])
    expect(isAlive(pid)).toBe(false)
    expect(performance.now() - began).toBeGreaterThan(1000)
    await lab.ok(lab.detached('quick', AGENT, 'idle'))
    began = performance.now()
    await lab.ok(['stop', 'quick', '--grace', '90s'])
    expect(performance.now() - began).toBeLessThan(60_000)
  }),
)

verifies(
  'innocent',
  'processes that only look related live: same directory, same name, our session in argv, a copied cookie, a client of its server',
  () =>
    inLab(async (lab) => {
      await lab.ok(lab.detached('s', AGENT, 'server'))
      const port = Number(await until('the port', () => readOr(join(lab.agentDir, 'port'))))
      const server = await lab.pid('server')
      const lineage = /HOLDFAST_LINEAGE=([^\0]*)/.exec(readOr(`/proc/${server}/environ`))?.[1] ?? ''
      expect(lineage).not.toBe('')
      const innocents = [
        spawn('sleep', ['3600'], { cwd: lab.dir, stdio: 'ignore', detached: true }),
        spawn('sleep', ['3600'], { argv0: 'fake-agent.sh --session s', stdio: 'ignore' }),
        spawn('sleep', ['3600'], { stdio: 'ignore', detached: true, env: { ...process.env, HOLDFAST_SESSION: 's', HOLDFAST_LINEAGE: lineage } }),
        spawn(process.execPath, ['-e', `require('net').connect(${port},'127.0.0.1').on('error',()=>{}); setInterval(()=>{}, 1000)`], {
          stdio: 'ignore',
        }),
      ]
      try {
        await until(
          'the client',
          () =>
            readOr('/proc/net/tcp')
              .split('\n')
              .filter((line) => line.includes(`:${port.toString(16).toUpperCase().padStart(4, '0')} `)).length > 1,
        )
        const suspects = JSON.parse(await lab.ok(['tree', 's', '--suspects', '--json'])) as { suspects: { pid: number }[] }
        expect(suspects.suspects.map(({ pid }) => pid)).toEqual([innocents[0]?.pid, innocents[2]?.pid])
        await lab.ok(['stop', 's'])
        expect(isAlive(server)).toBe(false)
        expect(innocents.map(({ pid }) => isAlive(pid ?? 0))).toEqual([true, true, true, true])
      } finally {
        for (const innocent of innocents) innocent.kill('SIGKILL')
      }
    }),
)

verifies('stop-proof', 'a fork storm ends, in a namespace of its own', () =>
  inLab(async (lab) => {
    const script = `
      hf=${COMMAND}; $hf run --session storm --dir ${lab.dir} --detach -- ${AGENT} storm >&2; sleep 1
      $hf stop storm --grace 500ms >&2
      for p in /proc/[0-9]*; do [ $p = /proc/$$ ] && continue; tr '\\0' ' ' <$p/cmdline 2>/dev/null | grep -q 'sleep 100005\\|fake-agent' && grep -q '^State:.[^ZX]' $p/status && echo "left $p"; done
      echo checked`
    const result = inNamespace(script, lab.env)
    expect(result.code, result.stderr).toBe(0)
    expect(result.stdout).toBe('checked\n')
  }),
)

verifies('stop-proof', 'an agent that stops its own session is ended from outside', () =>
  inLab(async (lab) => {
    const script = `echo $$ >"$FA_DIR/main.pid"; setsid sleep 1000 & "${COMMAND}" stop me >"$FA_DIR/said" 2>&1; sleep 1000`
    await lab.ok(lab.detached('me', 'sh', '-c', script))
    const pid = await lab.pid('main')
    await gone(pid)
    await until('the end on record', async () => (await lab.status('me')).state === 'stopped')
    expect(readFileSync(join(lab.agentDir, 'said'), 'utf8')).toMatch(/a stopper outside it/)
  }),
)

verifies('stop-proof', 'a full disk does not make an agent unstoppable, and the end is recorded when there is space again', () =>
  inLab(async (lab) => {
    const script = `
      hf=${COMMAND}; T=$(mktemp -d); mount -t tmpfs -o size=3m none $T; export HOLDFAST_HOME=$T
      $hf run --session f --dir ${lab.dir} --detach -- ${AGENT} idle >&2; until [ -s $FA_DIR/main.pid ]; do sleep 0.02; done; A=$(cat $FA_DIR/main.pid)
      head -c 3m /dev/zero >$T/fill 2>/dev/null || :
      $hf ls >&2 || [ $? = 69 ]; $hf stop f >&2; [ ! -e /proc/$A ] || grep -q '^State:.[ZX]' /proc/$A/status
      rm $T/fill; $hf reconcile >&2; $hf status f --json
      $hf run --session f --dir ${lab.dir} -- true; umount $T; rmdir $T`
    const result = inNamespace(script, lab.env)
    expect(result.code, result.stderr).toBe(0)
    expect(JSON.parse(result.stdout)).toMatchObject({ state: 'stopped', exit: { signal: 'SIGTERM' } })
  }),
)

verifies('gate', 'a stop in the start window leaves no agent and no open run', () =>
  inLab(async (lab) => {
    for (const point of [
      'after:store.claims.claim',
      'after:keepers.spawn',
      'before:store.claims.recordRunning',
      'after:store.claims.recordRunning',
    ]) {
      const starting = lab.hf(lab.detached('s', AGENT, 'idle'), {
        command: TEST_COMMAND,
        env: { HOLDFAST_FAILPOINTS: `${point}=delay:1500` },
      })
      // Of this start: the ones before have left their own end on record.
      await until('the claim', async () => {
        const { code, stdout } = await lab.hf(['status', 's', '--json'])
        return code === 0 && ['starting', 'running'].includes((JSON.parse(stdout) as { state: string }).state)
      })
      const stopped = await lab.hf(['stop', 's', '--grace', '2s'])
      expect(stopped.code, `${point} ${stopped.stdout}${stopped.stderr}`).toBe(0)
      await starting
      expect(['stopped', 'failed'], point).toContain((await lab.status('s')).state)
      const tree = JSON.parse(await lab.ok(['tree', 's', '--json'])) as { members: unknown[] }
      expect(tree.members).toEqual([])
    }
  }),
)

verifies('stop-proof', 'runs started from inside end with their parent, unless independent', () =>
  inLab(async (lab) => {
    const [kid, free] = [lab.newDir(), lab.newDir()]
    const script = `"${COMMAND}" run --session kid --dir ${kid} --detach -- sleep 1000; "${COMMAND}" run --session free --independent --dir ${free} --detach -- sleep 1000; "${COMMAND}" run --session same --dir . --detach -- sleep 1000; echo $? >"$FA_DIR/same.pid"; sleep 1000`
    await lab.ok(lab.detached('parent', 'sh', '-c', script))
    expect(await lab.pid('same')).toBe(0)
    const pids = await Promise.all(['kid', 'same', 'free'].map(async (session) => (await lab.status(session)).pid))
    expect(await lab.status('kid')).toMatchObject({ parent: ((await lab.status('parent')) as unknown as { run: string }).run })
    await lab.ok(['stop', 'parent'])
    expect(pids.map(isAlive)).toEqual([false, false, true])
    expect(await lab.status('kid')).toMatchObject({
      state: 'stopped',
      reason: expect.stringContaining('the session it was started in (parent) ended: stopped by') as string,
    })
    await lab.ok(['stop', 'free'])
  }),
)

verifies('stop-proof', 'leftovers of an agent that ends by itself are ended, its port is free', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'server'))
    const server = await lab.pid('server')
    await until('the port', () => existsSync(join(lab.agentDir, 'port')))
    process.kill(await lab.pid('main'), 'SIGKILL')
    await gone(server)
    await until('the end', async () => (await lab.status('s')).state === 'failed')
  }),
)

verifies('stop-proof', '--until tree lives as long as its tree', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 's', '--until', 'tree', '--dir', lab.dir, '--detach', '--', AGENT, 'wrapper', 'idle'])
    await until('the launcher to leave', async () => ((await lab.status('s')) as unknown as { note: string | null }).note?.includes('lives on'))
    expect(await lab.status('s')).toMatchObject({ state: 'running', liveness: 'alive' })
    expect((await lab.hf(lab.detached('t', AGENT, 'idle'))).code).toBe(75)
    const pid = await lab.pid('main')
    await lab.ok(['stop', 's'])
    expect(isAlive(pid)).toBe(false)
  }),
)

verifies('bounded', '--timeout ends a run without any daemon, and its timer does not outlive it', () =>
  inLab(async (lab) => {
    const run = await lab.hf(['run', '--session', 's', '--timeout', '1s', '--dir', lab.dir, '--', AGENT, 'tree'])
    expect(run.code).toBe(143)
    expect(await lab.status('s')).toMatchObject({ state: 'stopped', reason: 'its time was over (--timeout)' })
    for (let round = 0; round < 8; round++) await lab.ok(['run', '--session', 'early', '--timeout', '1h', '--dir', lab.dir, '--', 'true'])
  }),
)

verifies('stop-proof', 'TERM to the foreground command ends the tree, even of an agent that ignores it', () =>
  inLab(async (lab) => {
    const child = spawn(COMMAND, ['run', '--session', 's', '--dir', lab.dir, '--', AGENT, 'tree'], {
      env: lab.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const done = collect(child)
    const pids = await Promise.all(['main', 'plain', 'setsid', 'scrubbed'].map(lab.pid))
    child.kill('SIGTERM')
    expect((await done).code).toBe(143)
    for (const pid of pids) expect(isAlive(pid)).toBe(false)
    expect(await lab.status('s')).toMatchObject({ state: 'stopped', reason: 'the holdfast command received SIGTERM' })
  }),
)

verifies('innocent', 'no signal ever goes to a group, to everybody, to init, or through a program', () =>
  inLab(async (lab) => {
    if (spawnSync('strace', ['-V']).status !== 0) return unable('there is no strace')
    const trace = join(lab.dir, 'trace')
    await lab.ok(lab.detached('s', AGENT, 'tree'))
    await lab.pid('scrubbed')
    const traced = spawnSync('strace', ['-f', '-o', trace, '-e', 'trace=kill,tkill,tgkill,execve,pidfd_send_signal', COMMAND, 'stop', 's'], {
      env: lab.env,
      encoding: 'utf8',
    })
    expect(traced.status, traced.stderr).toBe(0)
    const lines = readFileSync(trace, 'utf8').split('\n')
    const targets = lines.flatMap((line) => /\bkill\((-?\d+),/.exec(line)?.[1] ?? []).map(Number)
    expect(targets.length).toBeGreaterThan(3)
    expect(targets.filter((pid) => pid <= 1)).toEqual([])
    expect(lines.filter((line) => /execve\("[^"]*\/(?:kill|pkill|killall|ps|lsof)"/.test(line))).toEqual([])
  }),
)

verifies('innocent', "our own helpers are nobody's processes: a stop names only what the agent started", () =>
  inLab(async (lab) => {
    for (let round = 0; round < 15; round++) {
      await lab.ok(lab.detached('s', 'sleep', '1000'))
      const attached = lab.start(['attach', 's'])
      const [stopped] = JSON.parse(await lab.ok(['stop', 's', '--json'])) as { ended: { name: string }[] }[]
      expect(
        stopped?.ended.map(({ name }) => name),
        `round ${round}`,
      ).toEqual(['sleep'])
      attached.kill('SIGKILL')
    }
  }),
)
