import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { AGENT, COMMAND, collect, gone, inLab, isAlive, type Lab, readOr, stateOf, TEST_COMMAND, until } from '../real/lab.ts'
import { backUp, putInPlace, query } from '../real/old-store.ts'
import { verifies } from '../requirements.ts'

const runsOf = (lab: Lab): string[] => readdirSync(join(lab.home, 'runs'))
/** The command of an agent that asks something of Holdfast when it is told to, and goes on. */
const asks = (verb: string): string[] => [
  'sh',
  '-c',
  `echo $$ >"$FA_DIR/main.pid"; while [ ! -e "$FA_DIR/go" ]; do sleep 0.05; done; ${COMMAND} ${verb} >"$FA_DIR/answer" 2>&1; echo $? >"$FA_DIR/code"; exec sleep 1000`,
]

verifies('one-owner', 'a store that is older than a live run sees it again, in every verb', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 'old', '--dir', lab.dir, '--', 'true'])
    const restore = backUp(lab)
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    const verbs: [readonly string[], (out: string, code: number | null) => void][] = [
      [['ls'], (out) => expect(out).toMatch(new RegExp(`^s +running +${pid}`, 'm'))],
      [['lock', '--check', lab.dir], (out, code) => expect([code, out]).toEqual([75, expect.stringMatching(/^held/)])],
      [['lock', lab.dir], (_, code) => expect(code).toBe(75)],
      [['run', '--session', 's', '--dir', lab.newDir(), '--detach', '--', AGENT, 'idle'], (_, code) => expect(code).toBe(75)],
      [['run', '--session', 's', '--dir', lab.newDir(), '--', 'true'], (_, code) => expect(code).toBe(75)],
      [lab.detached('t', AGENT, 'idle'), (_, code) => expect(code).toBe(75)],
      [['status', 's', '--json'], (out) => expect(JSON.parse(out)).toMatchObject({ state: 'running', epoch: 1, pid })],
      [['siblings', '--json'], (out) => expect(out).toContain('"s"')],
      [['tree', 's'], (out) => expect(out).toContain(String(pid))],
      [['doctor', '--json'], (out) => expect(out).not.toMatch(/this is a bug/)],
      [['prune'], (out) => expect(out).not.toMatch(/nothing of it is alive/)],
      [['reconcile'], (_, code) => expect(code).toBe(0)],
      [['stop', 's'], (out, code) => expect([code, out]).toEqual([0, expect.stringMatching(/s stopped/)])],
    ]
    for (const [verb, check] of verbs) {
      restore()
      const { stdout, code } = await lab.hf(verb)
      check(stdout, code)
      expect(isAlive(pid)).toBe(verb[0] !== 'stop')
    }
    const events = JSON.parse(await lab.ok(['events', 's', '--json'])) as { kind: string; detail: { restored?: boolean } }[]
    expect(events[0]).toMatchObject({ kind: 'claimed', detail: { restored: true } })
  }),
)

verifies('epoch', 'a session goes on from the greatest epoch of its run directories, whatever an older store says', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--', 'true'])
    const restore = backUp(lab)
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--', 'sh', '-c', 'exit 0'])
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    restore()
    expect(await lab.status('s')).toMatchObject({ state: 'running', epoch: 3, pid })
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--takeover', '--detach', '--', AGENT, 'idle'])
    expect(isAlive(pid)).toBe(false)
    expect((await lab.status('s')).epoch).toBe(4)
    restore()
    // Nobody has looked since: the start itself finds all of them.
    expect((await lab.hf(lab.detached('s', AGENT, 'idle'))).code).toBe(75)
    await lab.ok(['stop', 's'])
    restore()
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--', 'true'])
    expect((await lab.status('s')).epoch).toBe(5)
  }),
)

verifies('one-owner', 'a store in which a live run has no keeper yet learns it from its directory, and the run ends as any other', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid, keeper } = await lab.status('s')
    const restore = backUp(lab, `UPDATE run SET state = 'starting', keeper = NULL; UPDATE lock SET holder = json_set(holder, '$.keeper', NULL)`)
    restore()
    expect(await lab.status('s')).toMatchObject({ state: 'running', pid, keeper })
    restore()
    process.kill(pid, 'SIGKILL')
    await gone(keeper)
    expect(await lab.status('s')).toMatchObject({ state: 'failed', exit: { signal: 'SIGKILL' } })
  }),
)

verifies('unknown', 'a run that an older store calls live, and whose directory is pruned, is judged like any other', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const restore = backUp(lab)
    await lab.ok(['stop', 's'])
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--', 'true'])
    await lab.ok(['prune'])
    expect(runsOf(lab)).toHaveLength(1)
    restore()
    expect(JSON.parse(await lab.ok(['ls', '--json']))).toEqual([])
    expect(await lab.ok(['lock', '--check', lab.dir])).toMatch(/^free/)
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--', 'true'])
    expect((await lab.status('s')).epoch).toBe(3)
  }),
)

verifies('self', 'a session that got another id since an older store was written is the same session, by each of its ids', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('before', AGENT, 'idle'))
    const restore = backUp(lab)
    await lab.ok(['rebind', '--session', 'before', '--to', 'between'])
    await lab.ok(['rebind', '--session', 'between', '--to', 'after'])
    const elsewhere = lab.newDir()
    for (const id of ['after', 'between', 'before']) {
      restore()
      const { stderr, code } = await lab.hf(['run', '--session', id, '--dir', elsewhere, '--detach', '--', AGENT, 'idle'])
      expect([code, stderr]).toEqual([75, expect.stringContaining('session after is held by')])
    }
    restore()
    expect(JSON.parse(await lab.ok(['ls', '--json']))).toMatchObject([{ session: 'after' }])
  }),
)

verifies('stop-proof', 'a task that an older store does not know ends with its parent', () =>
  inLab(async (lab) => {
    const task = `${COMMAND} task start --name review -- sleep 1000 >"$FA_DIR/task" 2>&1`
    await lab.ok(
      lab.detached('s', 'sh', '-c', `echo $$ >"$FA_DIR/main.pid"; until [ -e "$FA_DIR/go" ]; do sleep 0.05; done; ${task}; exec sleep 1000`),
    )
    const restore = backUp(lab)
    writeFileSync(join(lab.agentDir, 'go'), '')
    const { pid } = await until('the task', () =>
      lab.hf(['status', 's.review', '--json']).then(({ code, stdout }) => code === 0 && JSON.parse(stdout)),
    )
    restore()
    await lab.ok(['stop', 's'])
    expect(isAlive(pid as number)).toBe(false)
    expect(await lab.status('s.review')).toMatchObject({ state: 'stopped' })
  }),
)

verifies('self', 'an agent whose run an older store does not know is still itself', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 'old', '--dir', lab.dir, '--', 'true'])
    const restore = backUp(lab)
    await lab.ok(lab.detached('s', ...asks('whoami --json')))
    await lab.pid('main')
    restore()
    writeFileSync(join(lab.agentDir, 'go'), '')
    await until('an answer', () => readOr(join(lab.agentDir, 'code')))
    expect(JSON.parse(readOr(join(lab.agentDir, 'answer')))).toMatchObject({ session: 's' })
  }),
)

verifies('one-owner', 'an older store that is written into the file of the present one is seen through as well', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 'old', '--dir', lab.dir, '--', 'true'])
    backUp(lab)
    const [copy = ''] = readdirSync(lab.agentDir)
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    putInPlace(lab, join(lab.agentDir, copy), true)
    expect((await lab.hf(lab.detached('t', AGENT, 'idle'))).code).toBe(75)
    expect(await lab.status('s')).toMatchObject({ state: 'running', epoch: 1 })
  }),
)

verifies('one-owner', 'the store of another home in the place of ours does not hide what lives here', () =>
  inLab(async (lab) => {
    const other = { env: { HOLDFAST_HOME: `${lab.home}-other` } }
    for (let times = 0; times < 4; times++) await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--', 'true'], other)
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    putInPlace(lab, join(`${lab.home}-other`, 'holdfast.db'))
    expect((await lab.hf(lab.detached('t', AGENT, 'idle'))).code).toBe(75)
    expect(await lab.ok(['ls'])).toContain(String(pid))
    await lab.ok(['stop', '--all'])
    expect(isAlive(pid)).toBe(false)
  }),
)

verifies('one-owner', 'many verbs that find an older store at once put a run on record once', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 'old', '--dir', lab.dir, '--', 'true'])
    const restore = backUp(lab)
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    restore()
    const verbs = [['ls'], ['status', 's'], ['reconcile'], lab.detached('s', AGENT, 'idle'), lab.detached('t', AGENT, 'idle')]
    const codes = await Promise.all([...verbs, ...verbs].map(async (verb) => (await lab.hf(verb)).code))
    expect(codes).toEqual([0, 0, 0, 75, 75, 0, 0, 0, 75, 75])
    expect(query(lab, `SELECT count(*) AS n FROM run WHERE session = 's'`)).toEqual([{ n: 1 }])
    expect(query(lab, `SELECT count(*) AS n FROM lock`)).toEqual([{ n: 1 }])
    expect(query(lab, `SELECT count(*) AS n FROM event WHERE session = 's' AND kind = 'claimed'`)).toEqual([{ n: 1 }])
  }),
)

verifies('one-owner', 'a start that waits while its store is replaced ends with 69, and starts nothing', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 'old', '--dir', lab.dir, '--', 'true'])
    const restore = backUp(lab)
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    const waiting = lab.start(['run', '--session', 's', '--dir', lab.dir, '--detach', '--wait', '30s', '--', AGENT, 'write'])
    const answer = collect(waiting)
    await until('it has the store open', () => hasOpen(waiting.pid ?? 0, join(lab.home, 'holdfast.db')))
    restore()
    expect(await answer).toMatchObject({ code: 69, stderr: expect.stringContaining('was replaced') })
    expect(isAlive(pid)).toBe(true)
    expect(readOr(join(lab.agentDir, 'transcript.jsonl'))).toBe('')
  }),
)

/** The pid, or one below it. */
const childOf = (pid: number): number[] =>
  readOr(`/proc/${pid}/task/${pid}/children`)
    .split(' ')
    .filter((word) => word !== '')
    .map(Number)
const hasOpen = (pid: number, path: string): boolean =>
  readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === path) || childOf(pid).some((child) => hasOpen(child, path))
const linkOf = (path: string): string => {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

verifies('one-owner', 'a daemon whose store is replaced by an older one finds the live run by itself, and leaves it alone', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 'old', '--dir', lab.dir, '--', 'true'])
    const restore = backUp(lab)
    await lab.ok(['daemon', 'start'])
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid, keeper } = await lab.status('s')
    restore()
    const stateNow = (): unknown => query(lab, `SELECT state FROM run WHERE session = 's'`)[0]?.['state']
    await until('the daemon to put it on record', () => stateNow() === 'running')
    expect(isAlive(pid)).toBe(true)
    process.kill(pid, 'SIGKILL')
    await gone(keeper)
    await until('the daemon to record its end', () => stateNow() === 'failed')
  }),
)

verifies('one-owner', 'a hook of an agent that an older store does not know puts its run on record first', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 'old', '--dir', lab.dir, '--', 'true'])
    const restore = backUp(lab)
    const hook = `printf '{"session_id":"0b5bbe5c-0000-4000-8000-000000000001"}' | "$HOLDFAST_NODE" ${resolve('dist/hook.cjs')} claude prompt`
    const waits = `echo $$ >"$FA_DIR/main.pid"; while [ ! -e "$FA_DIR/go" ]; do sleep 0.05; done`
    await lab.ok(lab.detached('s', 'sh', '-c', `${waits}; ${hook} >"$FA_DIR/answer" 2>&1; echo $? >"$FA_DIR/code"; exec sleep 1000`))
    await lab.pid('main')
    restore()
    writeFileSync(join(lab.agentDir, 'go'), '')
    expect(await until('its answer', () => readOr(join(lab.agentDir, 'code')).trim())).toBe('0')
    expect(query(lab, `SELECT state FROM run WHERE session = 's'`)).toEqual([{ state: 'running' }])
  }),
)

verifies('bounded', 'what was compared once is not compared again', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--', 'true'])
    await until('a folder at rest', async () => {
      await lab.ok(['ls'])
      return !readOr(join(lab.home, 'seen')).endsWith('\n-\n')
    })
    const before = readFileSync(join(lab.home, 'seen'), 'utf8')
    await lab.ok(['ls'])
    expect(readFileSync(join(lab.home, 'seen'), 'utf8')).toBe(before)
    // Garbage in its place says nothing, and is replaced.
    for (const text of ['', '9\n-\n', 'x'.repeat(5000), `999999 1 claimed r000000000000\n${before.split('\n')[1]}\n`]) {
      writeFileSync(join(lab.home, 'seen'), text)
      await lab.ok(['ls'])
      expect(readFileSync(join(lab.home, 'seen'), 'utf8').split('\n')[0]).toBe(before.split('\n')[0])
    }
  }),
)

/** A start that stops itself there, while an older store is put in place; then it goes on. */
async function replacedDuring(lab: Lab, point: string, args: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  await lab.ok(['run', '--session', 'old', '--dir', lab.dir, '--', 'true'])
  const restore = backUp(lab)
  const known = runsOf(lab)
  const child = lab.start(args, { command: TEST_COMMAND, env: { HOLDFAST_FAILPOINTS: `${point}=stop` } })
  const answer = collect(child)
  const launcher = await until('the launcher to stop', () => [child.pid ?? 0, ...childOf(child.pid ?? 0)].find((pid) => stateOf(pid) === 'T'))
  restore()
  const { stdout } = await lab.hf(['ls', '--json'])
  const listed = JSON.parse(stdout) as { session: string; state: string }[]
  // It is seen from the moment at which its directory tells of it, and no second owner gets in.
  const isThere = runsOf(lab).length > known.length
  expect(listed.map(({ session }) => session)).toEqual(isThere ? ['s'] : [])
  if (isThere) expect((await lab.hf(['run', '--session', 's', '--dir', lab.newDir(), '--detach', '--', AGENT, 'idle'])).code).toBe(75)
  process.kill(launcher, 'SIGCONT')
  return answer
}

for (const point of ['after:store.claims.claim', 'after:runRecords.create', 'after:runRecords.recordKeeper'])
  verifies('gate', `a store that is replaced ${point}: the start is told, and its agent never runs`, () =>
    inLab(async (lab) => {
      const { code, stderr } = await replacedDuring(lab, point, lab.detached('s', AGENT, 'write'))
      expect([code, stderr]).toEqual([69, expect.stringContaining('was replaced')])
      expect(readOr(join(lab.agentDir, 'transcript.jsonl'))).toBe('')
      await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--wait', '5s', '--', 'true'])
    }),
  )

verifies('gate', 'a store that is replaced during a start in the foreground: the start is told, and its agent never runs', () =>
  inLab(async (lab) => {
    const { code, stderr } = await replacedDuring(lab, 'after:runRecords.create', ['run', '--session', 's', '--dir', lab.dir, '--', AGENT, 'write'])
    expect([code, stderr]).toEqual([69, expect.stringContaining('was replaced')])
    expect(readOr(join(lab.agentDir, 'transcript.jsonl'))).toBe('')
    await lab.ok(['run', '--session', 's', '--dir', lab.dir, '--wait', '5s', '--', 'true'])
  }),
)

verifies('one-owner', 'a store that is replaced when the keeper is on record, before the gate opens: the agent runs, and is the owner', () =>
  inLab(async (lab) => {
    expect((await replacedDuring(lab, 'before:gate.open', lab.detached('s', AGENT, 'idle'))).code).toBe(0)
    const { pid } = await lab.status('s')
    expect(isAlive(pid)).toBe(true)
    expect((await lab.hf(lab.detached('t', AGENT, 'idle'))).code).toBe(75)
  }),
)
