import { spawnSync } from 'node:child_process'
import { chownSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { AGENT, COMMAND, gone, inLab, inNamespace, isAlive, unable, until } from './lab.ts'

const isRoot = process.getuid?.() === 0

verifies('identity', 'strangers with the pids of a dead run are neither trusted nor signalled', () =>
  inLab(async (lab) => {
    const script = `
      hf=${COMMAND}; D=${lab.dir}
      st() { s=$(cat /proc/$1/stat); s=\${s##*) }; set -- $s; echo "\${20}"; }
      take() { w=; until [ "$w" = "$1" ]; do echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid; setsid sleep 3000 & w=$!; done; }
      $hf run --session s --dir $D --detach -- ${AGENT} idle
      until [ -s $FA_DIR/main.pid ]; do sleep 0.02; done; A=$(cat $FA_DIR/main.pid); K=$($hf status s --json | sed 's/.*"keeper":\\([0-9]*\\).*/\\1/')
      kill -9 $K $A; while [ -e /proc/$A ] || [ -e /proc/$K ]; do sleep 0.02; done; sleep 0.05
      take $K; take $A
      $hf status s --json
      $hf stop s >&2; $hf reconcile >&2
      kill -0 $K; kill -0 $A
      $hf run --session other --dir $D --detach -- ${AGENT} idle >&2
      kill -0 $K; kill -0 $A; $hf stop --all >&2; echo SURVIVED`
    const result = inNamespace(script, lab.env)
    expect(result.code, result.stderr).toBe(0)
    const [status, last] = result.stdout.trim().split('\n').slice(-2)
    expect(JSON.parse(status ?? '')).toMatchObject({ state: 'lost', exit: null })
    expect(last).toBe('SURVIVED')
  }),
)

verifies('identity', 'a run of an earlier boot is over without being probed', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    const script = `
      echo 00000000-0000-4000-8000-000000000000 >/tmp/boot_id.$$; mount --bind /tmp/boot_id.$$ /proc/sys/kernel/random/boot_id; rm /tmp/boot_id.$$
      ${COMMAND} status s --json`
    // Without a pid namespace of its own: the processes are really there, and are rightly not looked at.
    const result = spawnSync('unshare', [...(isRoot ? [] : ['-Ur']), '-m', 'bash', '-euc', script], { env: lab.env, encoding: 'utf8' })
    expect(result.status, result.stderr).toBe(0)
    expect(JSON.parse(result.stdout)).toMatchObject({ state: 'lost', reason: 'the machine was started anew while it ran' })
    expect(isAlive(pid)).toBe(true)
    // The forged boot is over: what it took for dead is still there, and is ended here by its own identity.
    process.kill(pid, 'SIGTERM')
    await gone(pid)
  }),
)

verifies('unknown', 'from another pid namespace nothing is judged dead, stolen or called stopped', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    const script = `
      hf=${COMMAND}; set +e
      $hf ls --json; $hf reconcile
      $hf stop s; echo stop=$?
      for o in --takeover --detach; do $hf run --session s --dir ${lab.dir} --detach $o -- ${AGENT} idle; echo run=$?; done
      $hf run --session t --dir ${lab.dir} --detach -- ${AGENT} idle; echo other=$?`
    const result = inNamespace(script, lab.env)
    expect(result.stdout.match(/^(stop|run|other)=.*$/gm)).toEqual(['stop=76', 'run=76', 'run=76', 'other=76'])
    expect(result.stderr).toMatch(/cannot be proven dead: it lives in another pid namespace/)
    expect(JSON.parse(result.stdout.split('\n')[0] ?? '')).toMatchObject([{ session: 's', liveness: 'unknown' }])
    expect(isAlive(pid)).toBe(true)
    expect(await lab.status('s')).toMatchObject({ state: 'running', liveness: 'alive' })
  }),
)

verifies('unknown', '--force overrides what cannot be proven, says so on record, and still ends what it can see', () =>
  inLab(async (lab) => {
    const script = `
      hf=${COMMAND}
      $hf run --session s --dir ${lab.dir} --force --detach -- ${AGENT} idle >&2
      $hf events s --json; $hf stop --all >&2`
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    const result = inNamespace(script, lab.env)
    expect(result.code, result.stderr).toBe(0)
    const ended = (JSON.parse(result.stdout) as { kind: string; detail: { state: string; reason: string } }[]).find(({ kind }) => kind === 'ended')
    expect(ended?.detail).toMatchObject({
      state: 'lost',
      reason: expect.stringMatching(/could not be proven .*another pid namespace.* overridden with --force/) as string,
    })
    process.kill(pid, 'SIGKILL')
    await gone(pid)
  }),
)

verifies('identity', 'a frozen agent is alive: refused, not finished; and stop still ends it', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const pid = await lab.pid('main')
    process.kill(pid, 'SIGSTOP')
    await lab.ok(['reconcile'])
    expect(await lab.status('s')).toMatchObject({ state: 'running', liveness: 'alive', note: expect.stringContaining('stopped') as string })
    expect((await lab.hf(['resume', 's', '--detach'])).code).toBe(75)
    const began = performance.now()
    await lab.ok(['stop', 's', '--grace', '90s'])
    expect(performance.now() - began).toBeLessThan(60_000)
    expect(isAlive(pid)).toBe(false)
  }),
)

verifies('unknown', "another user's agent is alive or unknown, with and without hidepid; never dead, never stopped", () =>
  inLab(async (lab) => {
    if (!isRoot) return unable('another user needs root')
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const pid = await lab.pid('main')
    giveAll(lab.home, 65534)
    const asNobody = (hide: string): { out: string; err: string } => {
      const nobody = `setpriv --reuid 65534 --regid 65534 --clear-groups ${COMMAND}`
      const script = `${hide}; set +e; chmod 711 ${join(lab.home, '..')}; ${nobody} reconcile; ${nobody} stop s; echo stop=$?; ${nobody} run --session s --dir / --takeover --detach -- true; echo run=$?; ${nobody} status s --json`
      const { stdout, stderr } = spawnSync('unshare', ['-m', 'bash', '-uc', script], { env: lab.env, encoding: 'utf8' })
      return { out: stdout, err: stderr }
    }
    const open = asNobody(':')
    expect(open.out).toMatch(/stop=79\nrun=79\n.*"state":"stopping","liveness":"alive"/)
    expect(open.err).toMatch(/another user/)
    const hidden = asNobody('mount -t proc -o hidepid=2 proc /proc')
    expect(hidden.out).toMatch(/stop=76\nrun=76\n.*"state":"stopping","liveness":"unknown"/)
    expect(isAlive(pid)).toBe(true)
    giveAll(lab.home, 0)
  }),
)

verifies('identity', 'a zombie is gone, and its own status is the evidence', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', 'sh', '-c', 'while [ ! -e "$FA_DIR/go" ]; do sleep 0.02; done; exit 3'))
    const { keeper } = await lab.status('s')
    process.kill(keeper, 'SIGSTOP')
    // Only now: its keeper can no longer say how it ended.
    writeFileSync(join(lab.agentDir, 'go'), '')
    await until('the ending', async () => (await lab.status('s')).state === 'failed')
    expect(await lab.status('s')).toMatchObject({
      exit: { code: 3, signal: null },
      evidence: expect.arrayContaining(["the zombie's own status: exit code 3"]) as string[],
    })
    process.kill(keeper, 'SIGCONT')
  }),
)

function giveAll(path: string, id: number): void {
  chownSync(path, id, id)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) giveAll(join(path, entry.name), id)
    else chownSync(join(path, entry.name), id, id)
  }
}

verifies('identity', 'a wall clock that jumps a year either way changes nothing', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    for (const shift of [-365, 365]) {
      const env = { NODE_OPTIONS: `--require ${resolve('test/fixtures/clock.cjs')}`, CLOCK_SHIFT_MS: String(shift * 86_400_000) }
      await lab.ok(['reconcile'], { env })
      expect(JSON.parse(await lab.ok(['status', 's', '--json'], { env }))).toMatchObject({ state: 'running', liveness: 'alive', pid })
      expect((await lab.hf(['resume', 's', '--detach'], { env })).code).toBe(75)
    }
    await lab.ok(['stop', 's'])
  }),
)
