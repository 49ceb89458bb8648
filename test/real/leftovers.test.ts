import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { COMMAND, gone, inLab, inNamespace, isAlive, type Lab, nodeStartMs, readOr, TEST_COMMAND, unable, until } from './lab.ts'
import { onTerminal } from './terminal.ts'
import { becomingRoot } from './users.ts'

const isRoot = process.getuid?.() === 0

/** Listens on a port of its own choice, says which, and heeds TERM or not. */
const SERVER = `require('net').createServer().listen(0, process.argv[1], function () { require('fs').writeFileSync(process.env.FA_DIR + '/' + process.argv[2], String(this.address().port)) }); process.on('SIGTERM', () => process.argv[3] === 'deaf' || process.exit())`

/** A dev server on IPv4 and a deaf one on IPv6, a watcher, and nine others; then the agent leaves. */
function litterBug(lab: Lab, wait: string): string[] {
  writeFileSync(join(lab.dir, 'server.cjs'), SERVER.replaceAll('process.argv[', 'process.argv[1 + '))
  const node = (host: string, name: string, how: string): string =>
    `setsid ${process.execPath} ${join(lab.dir, 'server.cjs')} ${host} ${name} ${how} </dev/null >/dev/null 2>&1 & echo $! >"$FA_DIR/${name}.pid"`
  const script = [
    node('127.0.0.1', 'four', 'hears'),
    node('::1', 'six', 'deaf'),
    'for i in 1 2 3 4 5 6 7 8 9; do setsid sleep 1000 </dev/null >/dev/null 2>&1 & done',
    'while [ ! -s "$FA_DIR/four" ] || [ ! -s "$FA_DIR/six" ]; do sleep 0.02; done',
    wait,
  ]
  return ['sh', '-c', script.join('\n')]
}
const portOf = async (lab: Lab, name: string): Promise<number> => Number(await until(`port ${name}`, () => readOr(join(lab.agentDir, name)) || null))
const isListening = (port: number): boolean =>
  ['tcp', 'tcp6'].some((table) =>
    readOr(`/proc/net/${table}`)
      .split('\n')
      .some((line) => line.includes(`:${port.toString(16).toUpperCase().padStart(4, '0')} `) && line.includes(' 0A ')),
  )

verifies('stop-proof', 'what an agent leaves is gone within a second, deaf servers too, its ports are free, and evidence has a line for each', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', ...litterBug(lab, 'exec sleep 1001')))
    const [four, six] = [await portOf(lab, 'four'), await portOf(lab, 'six')]
    const servers = [await lab.pid('four'), await lab.pid('six')]
    const tree = await lab.ok(['tree', 's'])
    expect(tree).toMatch(new RegExp(`\\n${servers[0]} .* ${four} +.*\\n`))
    expect(tree).toMatch(new RegExp(`\\n${servers[1]} .* ${six} +.*\\n`))
    const { pid } = await lab.status('s')
    const began = performance.now()
    process.kill(pid, 'SIGKILL')
    await Promise.all(servers.map(gone))
    // A second, and what this machine needs.
    expect(performance.now() - began).toBeLessThan(1000 + nodeStartMs() * 20)
    expect([four, six].map(isListening)).toEqual([false, false])
    const { evidence } = (await until('its end', async () => ((await lab.status('s')).state === 'failed' ? lab.status('s') : null))) as unknown as {
      evidence: string[]
    }
    const lines = evidence.filter((line) => line.startsWith('ended with it: '))
    expect(lines).toHaveLength(11)
    const told = [
      [servers[0], four],
      [servers[1], six],
    ].map(([server, port]) => expect.stringMatching(new RegExp(`^ended with it: \\S+ \\(pid ${server}, port ${port}\\)$`)) as string)
    expect(lines.slice(0, 2)).toEqual(expect.arrayContaining(told))
  }),
)

verifies('visible', 'a person at the terminal is told in one line each what was ended: name, pid, port', () =>
  inLab(async (lab) => {
    const command = [COMMAND, 'run', '--session', 's', '--dir', lab.dir, '--', ...litterBug(lab, 'exit 0')]
    writeFileSync(join(lab.dir, 'run.sh'), `${command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')}; exec sleep 1002\n`)
    await onTerminal(lab, ['sh', join(lab.dir, 'run.sh')], async (terminal) => {
      const [four, six] = [await portOf(lab, 'four'), await portOf(lab, 'six')]
      await terminal.sees(/(holdfast: ended \S+ \(pid \d+\), which the agent had left running\s+){9}/)
      const screen = terminal.screen()
      for (const [name, port] of [
        ['four', four],
        ['six', six],
      ] as const)
        expect(screen).toMatch(new RegExp(`holdfast: ended \\S+ \\(pid ${await lab.pid(name)}, port ${port}\\), which the agent had left running`))
    })
  }),
)

verifies('stop-proof', 'a full disk does not let leftovers, overdue agents or tasks live on', () =>
  inLab(async (lab) => {
    if (!isRoot) return unable('a small file system needs root')
    const agent = (name: string, lines: readonly string[]): string => {
      writeFileSync(join(lab.dir, name), [...lines, `while [ ! -e ${lab.dir}/full ]; do sleep 0.02; done`].join('\n'))
      return `--dir ${lab.newDir()} --detach -- sh ${join(lab.dir, name)}`
    }
    const left = agent('left.sh', ['setsid env -i sleep 1001 & echo $! >"$FA_DIR/left.pid"'])
    const parent = agent('with.sh', [`${COMMAND} task start --name t -- sh -c 'echo $$ >"$FA_DIR/task.pid"; exec sleep 1003'`])
    const script = `
      mkdir -p "$HOLDFAST_HOME"; mount -t tmpfs -o size=1m none "$HOLDFAST_HOME"; cd "$FA_DIR"
      ${COMMAND} run --session left ${left}; ${COMMAND} run --session with ${parent}
      ${COMMAND} run --session late --timeout 3s --dir ${lab.newDir()} --detach -- sh -c 'echo $$ >"$FA_DIR/late.pid"; exec sleep 1002'
      # (Who still has the store open, as \`task start\` may, would keep it usable for others.)
      until [ -s left.pid ] && [ -s task.pid ] && [ -s late.pid ] && [ ! -e "$HOLDFAST_HOME/holdfast.db-shm" ]; do sleep 0.02; done
      dd if=/dev/zero of="$HOLDFAST_HOME/fill" bs=4k 2>/dev/null || true
      ${COMMAND} ls 2>/dev/null || echo "store: $?"
      touch ${lab.dir}/full
      alive() { grep -qs '^State:.[^ZX]' "/proc/$1/status"; }
      for i in $(seq 100); do
        still=''
        for name in left late task; do if alive "$(cat $name.pid)"; then still="$still $name"; fi; done
        [ -n "$still" ] || break
        sleep 0.1
      done
      echo "alive:$still"
      rm "$HOLDFAST_HOME/fill"
      ${COMMAND} ls; ${COMMAND} status late | grep reason
      left() { ls -d /sys/fs/cgroup/unified/holdfast-$(tr -d - <"$HOLDFAST_HOME/install" | cut -c1-12)-* 2>/dev/null; }
      for i in $(seq 50); do if left >/dev/null; then sleep 0.1; fi; done; left || echo 'no cgroups'`
    const { code, stdout, stderr } = inNamespace(script, lab.env)
    expect(stdout, stderr).toMatch(/store: 69\nalive:\nno sessions\n {2}reason +its time was over .*\nno cgroups\n/)
    expect(code, stderr).toBe(0)
  }),
)

verifies('bounded', 'a deaf leftover of an overdue agent lives no longer than the grace of that end', () =>
  inLab(async (lab) => {
    const script = `(trap '' TERM; exec setsid sh -c 'echo $$ >"$FA_DIR/deaf.pid"; while :; do sleep 1; done') & exec sleep 1000`
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--detach', '--timeout', '1s', '--', 'sh', '-c', script])
    const deaf = await lab.pid('deaf')
    const { pid } = await lab.status('s')
    await gone(pid)
    const began = performance.now()
    await gone(deaf)
    expect(performance.now() - began).toBeLessThan(13_000)
    expect(await until('its end', async () => ((await lab.status('s')).state === 'stopped' ? lab.status('s') : null))).toMatchObject({
      reason: 'its time was over (--timeout)',
    })
  }),
)

verifies('bounded', 'a long log is capped whoever ends its run', () =>
  inLab(async (lab) => {
    const script = 'head -c 25000000 /dev/zero; echo $$ >"$FA_DIR/main.pid"; exec sleep 1000'
    await lab.ok(lab.detached('s', 'sh', '-c', script))
    await lab.pid('main')
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--detach', '--takeover', '--', 'sleep', '1000'])
    const sizes = readdirSync(join(lab.home, 'runs')).map((run) => statSync(join(lab.home, 'runs', run, 'log')).size)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(10 * 1024 * 1024)
  }),
)

verifies('stop-proof', 'a frozen agent runs nothing any more before it hears that it shall end', () =>
  inLab(async (lab) => {
    const script = 'echo $$ >"$FA_DIR/main.pid"; i=0; while :; do i=$((i + 1)); echo $i >>"$FA_DIR/count"; sleep 0.01; done'
    await lab.ok(lab.detached('s', 'sh', '-c', script))
    await lab.pid('main')
    const { containment } = JSON.parse(await lab.ok(['status', 's', '--json'])) as { containment: { level: string; path: string } }
    if (containment.level !== 'cgroup') return unable('no cgroup that we may write')
    writeFileSync(join(containment.path, 'cgroup.freeze'), '1')
    await until('the frost', () => readOr(join(containment.path, 'cgroup.events')).includes('frozen 1'))
    const counted = readOr(join(lab.agentDir, 'count')).length
    const { pid } = await lab.status('s')
    await lab.ok(['stop', 's'])
    expect(isAlive(pid)).toBe(false)
    expect(readOr(join(lab.agentDir, 'count'))).toHaveLength(counted)
  }),
)

verifies('visible', 'a leftover that cannot be ended is tried again by the daemon ever more rarely, told once, and its health says so', () =>
  !isRoot
    ? unable('a process of another user needs root')
    : inLab(async (lab) => {
        spawnSync('chmod', ['711', dirname(lab.home)])
        spawnSync('chown', ['-R', '65534:65534', lab.dir])
        const env = { ...lab.env, HOLDFAST_HOME: join(lab.dir, 'home') }
        const asNobody = ['--reuid', '65534', '--regid', '65534', '--clear-groups']
        const hf = (...args: string[]) => spawnSync('setpriv', [...asNobody, COMMAND, ...args], { env, cwd: lab.dir, encoding: 'utf8' })
        const script = `${becomingRoot(lab)} --reuid 0 --regid 0 --clear-groups sh -c 'echo $$ >"$FA_DIR/foreign.pid"; exec sleep 1000' & while [ ! -e go ]; do sleep 0.05; done`
        expect(hf(...lab.detached('s', 'sh', '-c', script))).toMatchObject({ status: 0 })
        const { pid } = JSON.parse(hf('status', 's', '--json').stdout) as { pid: number }
        const foreign = await lab.pid('foreign')
        await until('it to sleep', () => readOr(`/proc/${foreign}/comm`).trim() === 'sleep')
        let said = ''
        const daemon = spawn('setpriv', [...asNobody, TEST_COMMAND, 'daemon', 'run'], {
          env: { ...env, HOLDFAST_FAILPOINTS: 'after:store.claims.recordSurvivors=say' },
          stdio: ['ignore', 'ignore', 'pipe'],
        })
        daemon.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
        const tries = (): number => said.split('failpoint store.claims.recordSurvivors').length - 1
        try {
          await until('it to be up', () => /adopted/.test(said))
          writeFileSync(join(lab.dir, 'go'), '')
          await gone(pid)
          const why = `session s: 1 survivor: pid ${foreign} (sleep): it belongs to another user`
          await until('it to say so', () => said.includes(why)).catch((error: Error) => expect.fail(`${error.message}:\n${said}`))
          const [before, began] = [tries(), performance.now()]
          await until('two more', () => tries() >= before + 2)
          // At least half of one second and of two.
          expect(performance.now() - began).toBeGreaterThan(1200)
          const status = hf('daemon', 'status')
          expect(status.stdout).toContain(why)
          expect(status.status).not.toBe(0)
          const told = hf('events', 's', '--json').stdout
          expect(told.match(/"kind":"survivors"/g), told).toHaveLength(1)
          process.kill(foreign, 'SIGKILL')
          await until('its end', () => /"state":"completed"/.test(hf('status', 's', '--json').stdout))
          await until('it to be well again', () => hf('daemon', 'status').status === 0)
        } finally {
          if (isAlive(foreign)) process.kill(foreign, 'SIGKILL')
          const ended = new Promise((done) => daemon.once('exit', done))
          daemon.kill('SIGTERM')
          await ended
          hf('stop', '--all', '--grace', '1s')
        }
      }),
)
