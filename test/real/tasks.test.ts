import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifies } from '../requirements.ts'
import { COMMAND, findings, gone, inLab, isAlive, type Lab, nodeStartMs, readOr, TEST_COMMAND, unable, until } from './lab.ts'

type Task = {
  session: string
  state: string
  onRetire: string | null
  usage: { cpuMs: number; whole: boolean } | null
  parent: string
  reason: string | null
}
const tasksOf = async (lab: Lab, session: string): Promise<Task[]> => JSON.parse(await lab.ok(['task', 'ls', session, '--json'])) as Task[]
/** An agent that starts tasks and then works until it is ended. */
const agent = (...tasks: string[]): string[] => [
  'sh',
  '-c',
  `${tasks.map((task) => `${COMMAND} task start ${task} >>"$FA_DIR/tasks" 2>&1`).join('; ')}; echo $$ >"$FA_DIR/main.pid"; exec sleep 1000`,
]
const begin = async (lab: Lab, ...tasks: string[]): Promise<void> => {
  await lab.ok(lab.detached('s', ...agent(...tasks)))
  await lab.pid('main')
}

verifies('stop-proof', 'a task has a parent, a marker and a sibling cgroup of its own, is seen with what it burned, and ends with its parent', () =>
  inLab(async (lab) => {
    await begin(lab, '--name review -- sh -c "while :; do :; done"')
    const task = await lab.status('s.review')
    const { run, pid: agentPid } = (await lab.status('s')) as unknown as { run: string; pid: number }
    expect(task).toMatchObject({ state: 'running', parent: run })
    await until('some burning', async () => ((await tasksOf(lab, 's'))[0]?.usage?.cpuMs ?? 0) > 50)
    expect(await lab.ok(['status', 's', '--verbose'])).toMatch(/\n {2}task +s\.review running for \S+, (at least )?\d+\.\d\d s of CPU\n/)
    const tree = await lab.ok(['tree', 's'])
    expect(tree).toMatch(new RegExp(`^${agentPid} `, 'm'))
    expect(tree).toMatch(new RegExp(`\\ntask s\\.review running .*\\n(.*\\n)* +${task.pid} `))
    const { members, tasks } = JSON.parse(await lab.ok(['tree', 's', '--json'])) as {
      members: { pid: number }[]
      tasks: { members: { pid: number }[] }[]
    }
    expect(members.map(({ pid }) => pid)).not.toContain(task.pid)
    expect(tasks[0]?.members.map(({ pid }) => pid)).toEqual([task.pid])
    process.kill(agentPid, 'SIGKILL')
    await gone(task.pid)
    const [ended] = await until('its end', async () => ((await tasksOf(lab, 's'))[0]?.state === 'stopped' ? tasksOf(lab, 's') : null))
    expect(ended?.usage?.cpuMs).toBeGreaterThan(50)
    expect(ended?.reason).toContain('the session it was started in (s) ended')
  }),
)

verifies('final', 'at a takeover a task is superseded, and a late result of it changes nothing', () =>
  inLab(async (lab) => {
    // It ignores TERM for a while and then ends well: that is what comes too late.
    const late = `trap 'sleep 0.4; [ -e "\\$HOLDFAST_FENCE" ] && touch ${join(lab.agentDir, 'fenced')}; exit 0' TERM; while :; do sleep 0.05; done`
    await begin(lab, `--name review -- sh -c "${late.replaceAll('"', '\\"')}"`)
    const { pid } = await lab.status('s.review')
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--detach', '--takeover', '--', 'sleep', '1000'])
    expect(isAlive(pid)).toBe(false)
    expect(await lab.status('s.review')).toMatchObject({
      state: 'superseded',
      exit: { code: 0 },
      reason: expect.stringContaining('taken over') as string,
    })
    expect(existsSync(join(lab.agentDir, 'fenced'))).toBe(true)
    await lab.ok(['reconcile'])
    expect((await lab.status('s.review')).state).toBe('superseded')
    expect(await tasksOf(lab, 's')).toMatchObject([{ session: 's.review', state: 'superseded' }])
  }),
)

verifies('one-owner', 'a task that is to be adopted lives through a takeover, in the same directory, and then ends with the new run', () =>
  inLab(async (lab) => {
    await begin(lab, '--name watch --on-retire adopt -- sleep 1001')
    const { pid } = await lab.status('s.watch')
    const old = (await lab.status('s')) as unknown as { run: string }
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--detach', '--takeover', '--', 'sleep', '1000'])
    await lab.ok(['reconcile'])
    const now = (await lab.status('s')) as unknown as { run: string }
    expect(await lab.status('s.watch')).toMatchObject({ state: 'running', pid, parent: now.run })
    const events = JSON.parse(await lab.ok(['events', 's.watch', '--json'])) as { kind: string; detail: object }[]
    expect(events.find(({ kind }) => kind === 'adopted')?.detail).toEqual({ by: now.run, session: 's', from: old.run })
    await lab.ok(['stop', 's'])
    expect(isAlive(pid)).toBe(false)
    expect(await lab.status('s.watch')).toMatchObject({ state: 'stopped' })
  }),
)

verifies('stop-proof', 'a task that nobody adopts in time is ended, and not before', () =>
  inLab(async (lab) => {
    await begin(lab, '--name watch --on-retire adopt -- sleep 1001')
    const { pid } = await lab.status('s.watch')
    // The one who takes over is killed between retiring the old run and claiming the next.
    const taken = await lab.hf(['run', '--session', 's', '--dir', lab.dir, '--detach', '--takeover', '--', 'sleep', '1000'], {
      command: TEST_COMMAND,
      env: { HOLDFAST_FAILPOINTS: 'before:store.claims.claim=kill' },
    })
    expect(taken.code).not.toBe(0)
    expect(await lab.status('s')).toMatchObject({ state: 'superseded' })
    await lab.ok(['reconcile'])
    expect(isAlive(pid)).toBe(true)
    await lab.ok(['reconcile'], { env: { NODE_OPTIONS: `--require ${process.cwd()}/test/fixtures/clock.cjs`, CLOCK_SHIFT_MS: '60000' } })
    expect(isAlive(pid)).toBe(false)
    expect(await lab.status('s.watch')).toMatchObject({ state: 'stopped', reason: 'the session it was started in is over', endedBy: 'orphan' })
  }),
)

verifies('stop-proof', 'a task of a task that is cancelled is not left for an adoption that never comes', () =>
  inLab(async (lab) => {
    await begin(lab, `--name outer -- sh -c "${COMMAND} task start --name inner --on-retire adopt -- sleep 1001; sleep 1002"`)
    const { pid } = await until('the inner task', async () => ((await tasksOf(lab, 's.outer')).length > 0 ? lab.status('s.outer.inner') : null))
    await lab.ok(['resume', 's', '--takeover', '--detach', '--', 'sleep', '1000'])
    expect(isAlive(pid)).toBe(false)
    expect(await lab.status('s.outer.inner')).toMatchObject({ state: 'superseded' })
  }),
)

verifies('stop-proof', 'a run that lives as long as its tree ends its tasks when that is empty, though nobody looks', () =>
  inLab(async (lab) => {
    const script = `${COMMAND} task start --name watch -- sleep 1001 >/dev/null; echo $$ >"$FA_DIR/main.pid"; setsid sleep 2 &`
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--detach', '--until', 'tree', '--', 'sh', '-c', script])
    await gone(await lab.pid('main'))
    const { pid } = await lab.status('s.watch')
    expect(isAlive(pid)).toBe(true)
    await gone(pid)
    const { state, startedAt, endedAt } = (await lab.status('s')) as unknown as { state: string; startedAt: string; endedAt: string }
    expect(state).toBe('completed')
    expect(Date.parse(endedAt) - Date.parse(startedAt)).toBeGreaterThan(1500)
  }),
)

verifies('one-owner', 'what a killed run had started is ended before the next one begins', () =>
  inLab(async (lab) => {
    await begin(lab, '--name a -- sleep 1001', '--name b --on-retire adopt -- sleep 1002')
    const tasks = [await lab.status('s.a'), await lab.status('s.b')].map(({ pid }) => pid)
    const { pid, keeper } = await lab.unguarded('s')
    for (const victim of [keeper, pid]) process.kill(victim, 'SIGKILL')
    await gone(pid)
    await lab.ok(['resume', 's', '--detach', '--', 'sleep', '1000'])
    expect(tasks.filter(isAlive)).toEqual([])
    expect((await findings(lab)).filter(({ level }) => level === 'trouble')).toEqual([])
  }),
)

verifies('one-owner', 'so it is where a look has recorded the end of the killed run before', () =>
  inLab(async (lab) => {
    await begin(lab, '--name a -- sleep 1001', '--name b --on-retire adopt -- sleep 1002')
    const tasks = [await lab.status('s.a'), await lab.status('s.b')].map(({ pid }) => pid)
    const { pid, keeper } = await lab.unguarded('s')
    for (const victim of [keeper, pid]) process.kill(victim, 'SIGKILL')
    await until('the end on record', async () => ['lost', 'failed'].includes((await lab.status('s')).state))
    await lab.ok(['resume', 's', '--detach', '--', 'sleep', '1000'])
    expect(tasks.filter(isAlive)).toEqual([])
    expect(await lab.status('s.a')).toMatchObject({ state: 'stopped', reason: expect.stringContaining('(s) ended') as string })
  }),
)

verifies('stop-proof', 'deaf tasks do not hold up the leftovers of an agent that ended by itself, nor each other', () =>
  inLab(async (lab) => {
    const deaf = (name: string): string => `--name ${name} -- sh -c "trap '' TERM; while :; do sleep 1; done"`
    await lab.ok(
      lab.detached(
        's',
        'sh',
        '-c',
        `${[deaf('a'), deaf('b')].map((task) => `${COMMAND} task start ${task}`).join(';')}; setsid sleep 1001 & echo $! >"$FA_DIR/left.pid"; exec sleep 1000`,
      ),
    )
    const left = await lab.pid('left')
    const pids = [left, (await lab.status('s.a')).pid, (await lab.status('s.b')).pid]
    const { pid } = await lab.status('s')
    const began = performance.now()
    process.kill(pid, 'SIGKILL')
    await gone(left)
    expect(performance.now() - began).toBeLessThan(1500 + nodeStartMs() * 20)
    await Promise.all(pids.map(gone))
    expect(performance.now() - began).toBeLessThan(5500 + nodeStartMs() * 20)
  }),
)

verifies('stop-proof', 'a run inside that cannot be judged does not keep its parent alive, and is named', () =>
  inLab(async (lab) => {
    if (process.getuid?.() !== 0) return unable('a pid namespace needs root')
    const inner = `unshare -pf -m --mount-proc --kill-child sh -c '${COMMAND} run --session inner --dir ${lab.newDir()} --detach -- sleep 1001; echo $$ >"$FA_DIR/inner.pid"; sleep 1002' &`
    await lab.ok(lab.detached('s', 'sh', '-c', `${inner} exec sleep 1000`))
    await lab.pid('inner')
    const { pid } = await lab.status('s')
    const { code, stdout } = await lab.hf(['stop', 's', '--grace', '1s'])
    // Its namespace ends with the agent that made it, so that it may be proven gone by then.
    expect(isAlive(pid)).toBe(false)
    if (code !== 0)
      expect([code, stdout]).toEqual([
        76,
        expect.stringMatching(/^s is over, but inner, which was started in it, cannot be proven gone: it lives in another pid namespace/),
      ])
    expect(await lab.status('s')).toMatchObject({ state: 'stopped' })
    await until('the end of the inner one', async () => (await lab.status('inner')).state !== 'running')
  }),
)

verifies('unknown', 'what is overridden for one session is not overridden for what was started in it', () =>
  inLab(async (lab) => {
    if (process.getuid?.() !== 0) return unable('a pid namespace needs root')
    const agent = `${COMMAND} run --session inner --dir ${lab.newDir()} --detach -- sleep 1001; exec sleep 1000`
    const around = `${COMMAND} run --session outer --dir ${lab.dir} --detach -- sh -c '${agent}'; sleep 1002`
    const namespace = spawn('unshare', ['-pf', '-m', '--mount-proc', '--kill-child', 'sh', '-c', around], { env: lab.env, stdio: 'ignore' })
    await until('the inner one', async () => (await lab.hf(['status', 'inner', '--json'])).code === 0 && (await lab.status('inner')).pid !== null)
    // Its keeper would see its end from inside, and end what was started in it.
    const plan = join(lab.home, 'runs', String((await lab.status('outer'))['run']), 'plan')
    const keepers = readdirSync('/proc').filter((pid) => readOr(`/proc/${pid}/cmdline`).endsWith(`gate.sh\0${plan}\0`))
    expect(keepers).toHaveLength(1)
    process.kill(Number(keepers[0]), 'SIGSTOP')
    await lab.ok(['run', '--session', 'outer', '--dir', lab.newDir(), '--detach', '--force', '--grace', '1s', '--', 'sleep', '1003'])
    expect(await lab.status('inner')).toMatchObject({ state: 'running', liveness: 'unknown' })
    namespace.kill('SIGKILL')
    await until('its end', async () => (await lab.status('inner')).state === 'lost')
  }),
)

verifies('stop-proof', 'an agent that says it were outside is ended from outside all the same', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', 'sh', '-c', `echo $$ >"$FA_DIR/main.pid"; ${COMMAND} stop s --outside --grace 1s; sleep 1000`))
    await gone(await lab.pid('main'))
    expect(await until('its end', async () => ((await lab.status('s')).state === 'stopped' ? lab.status('s') : null))).toMatchObject({
      survivors: [],
    })
  }),
)

test('two sessions may each have a review; one session has it once at a time; a task has tasks', () =>
  inLab(async (lab) => {
    await begin(
      lab,
      '--name review -- sleep 1001',
      '--name review -- sleep 1002',
      `-- sh -c "${COMMAND} task start --name inner -- sleep 1003; sleep 1004"`,
    )
    await lab.ok(['run', '--session', 'other', '--dir', lab.newDir(), '--detach', '--', ...agent('--name review -- sleep 1005')])
    await until('the other review', async () => (await tasksOf(lab, 'other')).length === 1)
    const own = await until('all tasks', async () => ((await tasksOf(lab, 's')).length === 2 ? tasksOf(lab, 's') : null))
    expect(own.map(({ session }) => session).toSorted()).toEqual(['s.review', expect.stringMatching(/^sh-/)])
    const outer = own.find(({ session }) => session.startsWith('sh-'))?.session ?? ''
    await until('the inner task', async () => (await tasksOf(lab, outer)).length === 1)
    const inner = await lab.status(`${outer}.inner`)
    await lab.ok(['stop', 's'])
    expect(isAlive(inner.pid)).toBe(false)
    expect((await lab.status('other.review')).state).toBe('running')
  }))

test('what cannot be a task is refused in a sentence', () =>
  inLab(async (lab) => {
    const refused = async (args: string[], code: number, said: RegExp): Promise<void> => {
      const result = await lab.hf(args)
      expect([result.code, result.stderr], args.join(' ')).toEqual([code, expect.stringMatching(said)])
    }
    await refused(['task'], 64, /task takes start or ls/)
    await refused(['task', 'stop'], 64, /not "stop"/)
    await refused(['task', 'start', '--', 'true'], 64, /belongs inside a session/)
    await refused(['task', 'start', '--on-retire', 'keep', '--', 'true'], 64, /cancel or adopt, not keep/)
    await refused(['task', 'ls', 'nobody'], 66, /no such session/)
    await refused(['task', 'ls', 'a', 'b'], 64, /one session, or none/)
    expect(await lab.ok(['task', 'ls'])).toBe('no tasks\n')
    await begin(lab, '--', '--name "a b" -- true')
    expect(await lab.ok(['task', 'ls', 's'])).toBe('no tasks\n')
  }))
