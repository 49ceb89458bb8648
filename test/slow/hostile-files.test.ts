import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { expect } from 'vitest'
import { AGENT, inLab, isAlive, type Lab, readOr, stateOf, unable, until } from '../real/lab.ts'
import { verifies } from '../requirements.ts'

/** An agent can put anything in the place of a file that its own user may write. No command waits for it, and none is misled by it. */

/** Far more than any command needs here, and far less than for ever. */
const BOUND = { timeoutMs: 90_000 }
/** All files of a run, in groups: a session has those of one group replaced, each by the same kind of thing. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  exit: ['exit', 'log.1', 'native', 'aware.1', 'facts', 'usage', 'done'],
  pid: ['pid', 'log', 'refused', 'activity', 'denial', 'begun', 'timer'],
  record: ['run.json', 'keeper', 'notice', 'prompted', 'tombstone', 'plan', 'follow'],
  cgroup: ['cgroup', 'members', 'server', 'nostart', 'retired', 'followed', 'prompt'],
}
const KINDS = ['fifo', 'directory', 'socket', 'zero', 'loop', 'sparse', 'other', 'shut'] as const
type Kind = (typeof KINDS)[number]

const servers: Server[] = []
async function put(path: string, kind: Kind, other: string): Promise<void> {
  if (kind === 'shut') {
    if (!existsSync(path)) writeFileSync(path, '')
    return chmodSync(path, 0)
  }
  rmSync(path, { recursive: true, force: true })
  if (kind === 'fifo') spawnSync('mkfifo', [path])
  else if (kind === 'directory') mkdirSync(path)
  else if (kind === 'zero') symlinkSync('/dev/zero', path)
  else if (kind === 'loop') symlinkSync(path, path)
  else if (kind === 'other') symlinkSync(other, path)
  else if (kind === 'sparse') {
    writeFileSync(path, '')
    truncateSync(path, 2 ** 30)
  } else await bind(path)
}

/** The path of a socket is short, so it is made elsewhere and moved. */
async function bind(path: string): Promise<void> {
  const server = createServer()
  servers.push(server)
  const short = join('/tmp', `hf-${process.pid}-${servers.length}`)
  await new Promise<void>((ready) => void server.listen(short, ready))
  try {
    renameSync(short, path)
  } catch {
    rmSync(short)
    throw new Error(`no socket at ${path}`)
  }
}

type Started = { readonly run: string; readonly pid: number }

/** Starts detached sessions by the library, which is quicker than as many commands. */
function startAll(lab: Lab, names: readonly string[]): Map<string, Started> {
  for (const name of names) mkdirSync(join(lab.dir, name))
  const program = `
    import { openHoldfast } from ${JSON.stringify(resolve('dist/library.js'))}
    const holdfast = openHoldfast({ home: process.env.HOLDFAST_HOME })
    const all = {}
    for (const name of JSON.parse(process.argv[1])) {
      const { run } = await holdfast.start({ session: name, dir: process.env.WORK + '/' + name, argv: ['sleep', '100000'] })
      all[name] = { run: run.id }
    }
    console.log(JSON.stringify(all))
    holdfast.close()`
  const result = spawnSync(process.execPath, ['--input-type=module', '-e', program, JSON.stringify(names)], {
    env: { ...lab.env, WORK: lab.dir },
    encoding: 'utf8',
  })
  expect(result.status, result.stderr).toBe(0)
  const all = Object.entries(JSON.parse(result.stdout) as Record<string, { run: string }>)
  return new Map(all.map(([name, { run }]) => [name, { run, pid: Number.parseInt(readOr(join(lab.home, 'runs', run, 'pid')), 10) }]))
}

verifies('bounded', 'whatever an agent puts in the place of a file of its run: every command answers, the daemon too, and all of it is stopped', () =>
  inLab(async (lab) => {
    const cells = Object.entries(GROUPS).flatMap(([group, files]) => KINDS.map((kind) => ({ name: `${group}-${kind}`, files, kind })))
    const started = startAll(lab, ['calm', ...cells.map(({ name }) => name)])
    const calm = started.get('calm') as Started
    const folderOf = (name: string): string => join(lab.home, 'runs', started.get(name)?.run ?? '')
    const other = (file: string): string => join(folderOf('calm'), existsSync(join(folderOf('calm'), file)) ? file : 'pid')
    for (const { name, files, kind } of cells) for (const file of files) await put(join(folderOf(name), file), kind, other(file))
    const calmFiles = readdirSync(folderOf('calm'))
    const contents = (): [string, string][] => calmFiles.map((name) => [name, readOr(join(folderOf('calm'), name))])
    const before = contents()

    for (const verb of [['ls'], ['siblings'], ['reconcile'], ['prune', '--dry-run'], ['ls', '--json']]) {
      const { code, stderr } = await lab.hf(verb, BOUND)
      expect([verb, code, stderr.includes('a bug')]).toEqual([verb, 0, false])
    }
    const doctor = await lab.hf(['doctor', '--json'], BOUND)
    for (const words of [
      'its file exit is a FIFO',
      'its file pid is a symbolic link',
      'its file run.json is larger than 16 MB',
      'its file keeper is a socket',
    ])
      expect(doctor.stdout).toContain(words)
    const look = async (name: string): Promise<void> => {
      for (const verb of ['status', 'logs', 'tree']) expect([name, verb, (await lab.hf([verb, name], BOUND)).code]).toEqual([name, verb, 0])
    }
    for (const kind of ['fifo', 'other'] as const) await Promise.all(cells.filter((cell) => cell.kind === kind).map(({ name }) => look(name)))

    for (const name of ['exit-fifo', 'pid-fifo', 'record-fifo', 'cgroup-fifo']) {
      const { pid } = started.get(name) as Started
      await lab.ok(['run', '--session', name, '--dir', join(lab.dir, name), '--takeover', '--grace', '1s', '--', 'true'], BOUND)
      expect([name, isAlive(pid)]).toEqual([name, false])
    }
    for (const name of ['exit-zero', 'pid-sparse', 'record-directory', 'cgroup-loop', 'exit-other', 'pid-other', 'record-other', 'cgroup-other']) {
      await lab.ok(['stop', name, '--grace', '1s'], BOUND)
      expect([name, isAlive((started.get(name) as Started).pid)]).toEqual([name, false])
    }
    expect(await lab.status('calm')).toMatchObject({ state: 'running', pid: calm.pid })

    await lab.ok(['daemon', 'start'], BOUND)
    await until('a round of the daemon', async () => {
      const { stdout } = await lab.hf(['daemon', 'status', '--json'], BOUND)
      return /"name": ?"reconcile","lastSuccess": ?"/.test(stdout.replaceAll(/\s*\n\s*/g, ''))
    })
    await lab.ok(['daemon', 'stop'], BOUND)
    expect(contents()).toEqual(before)

    const all = await lab.hf(['stop', '--all', '--grace', '1s'], BOUND)
    expect([all.code, all.stderr]).toEqual([0, ''])
    for (const [name, { pid }] of started) expect([name, isAlive(pid)]).toEqual([name, false])
    const sessions = JSON.parse(await lab.ok(['ls', '--all', '--json'], BOUND)) as { session: string; state: string }[]
    for (const { session, state } of sessions) expect([session, state]).toEqual([session, expect.stringMatching(/^(?:stopped|completed)$/)])
    expect(sessions).toHaveLength(started.size)
    await lab.ok(['prune'], BOUND)
    for (const server of servers.splice(0)) server.close()
  }),
)

verifies('evidence', 'without a plain exit record a run is lost, and the reason names what lies there; a link to another record is no evidence', () =>
  inLab(async (lab) => {
    await lab.ok(['run', '--session', 'done', '--dir', lab.dir, '--', 'true'])
    const evidence = join(lab.home, 'runs', String((await lab.status('done'))['run']), 'exit')
    const started = startAll(lab, KINDS)
    for (const kind of KINDS) await put(join(lab.home, 'runs', (started.get(kind) as Started).run, 'exit'), kind, evidence)
    const seen = await Promise.all(KINDS.map((kind) => lab.unguarded(kind)))
    for (const { keeper, pid } of seen) for (const one of [keeper, pid]) process.kill(one, 'SIGKILL')
    // A zombie would still tell how it ended.
    for (const { pid } of seen) await until('it to be gone without a trace', () => stateOf(pid) === null)
    await lab.ok(['reconcile'], BOUND)
    const words: Readonly<Record<Kind, string>> = {
      fifo: ': its file exit is a FIFO',
      directory: ': its file exit is a directory',
      socket: ': its file exit is a socket',
      zero: ': its file exit is a symbolic link',
      loop: ': its file exit is a symbolic link',
      other: ': its file exit is a symbolic link',
      sparse: ': its file exit is larger than 16 KB',
      shut: process.getuid?.() === 0 ? '' : ': its file exit cannot be opened (EACCES)',
    }
    for (const kind of KINDS)
      expect([kind, await lab.status(kind)]).toMatchObject([
        kind,
        { state: 'lost', reason: `its processes are gone and nothing tells how it ended${words[kind]}` },
      ])
    for (const server of servers.splice(0)) server.close()
  }),
)

verifies('bounded', 'a store that is no file, or has something else beside it, is refused at once; its agents are still seen and stopped', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    const { pid } = await lab.status('s')
    const store = join(lab.home, 'holdfast.db')
    for (const name of ['holdfast.db', 'holdfast.db-wal', 'holdfast.db-shm', 'holdfast.db-journal'])
      for (const kind of ['fifo', 'directory', 'socket', 'zero', 'loop'] as const) {
        const path = join(lab.home, name)
        if (existsSync(path)) renameSync(path, `${path}.kept`)
        await put(path, kind, store)
        const refused = await lab.hf(['run', '--session', 'x', '--dir', lab.newDir(), '--', 'true'], BOUND)
        expect([name, kind, refused.code, refused.stderr]).toEqual([name, kind, 69, expect.stringContaining(`${path} is a`)])
        const listing = await lab.hf(['ls'], BOUND)
        expect([name, kind, listing.code, listing.stdout]).toEqual([name, kind, 69, expect.stringMatching(/\bs\b/)])
        rmSync(path, { recursive: true })
        if (existsSync(`${path}.kept`)) renameSync(`${path}.kept`, path)
      }
    for (const server of servers.splice(0)) server.close()
    renameSync(store, `${store}.kept`)
    await put(store, 'fifo', store)
    await lab.hf(['stop', 's', '--grace', '1s'], BOUND)
    expect(isAlive(pid)).toBe(false)
    rmSync(store)
    renameSync(`${store}.kept`, store)
  }),
)

verifies('bounded', 'the files of the home itself and of the daemon: each is named, or made anew, and nobody waits', () =>
  inLab(async (lab) => {
    await lab.ok(lab.detached('s', AGENT, 'idle'))
    for (const kind of ['fifo', 'directory', 'socket', 'zero', 'loop', 'sparse'] as const) {
      for (const name of ['install', 'config.toml']) {
        const path = join(lab.home, name)
        if (existsSync(path)) renameSync(path, join(dirname(lab.home), name))
        await put(path, kind, path)
        // The runs of a home tell its id, too.
        const { code, stdout } = await lab.hf(['ls'], BOUND)
        expect([name, kind, code, stdout]).toEqual([name, kind, 0, expect.stringMatching(/^s /m)])
        const why = name === 'install' ? /install cannot be used: it (?:is|leads)/ : /config\.toml cannot be read: it is/
        expect((await lab.hf(['doctor'], BOUND)).stdout).toMatch(why)
        rmSync(path, { recursive: true })
        if (existsSync(join(dirname(lab.home), name))) renameSync(join(dirname(lab.home), name), path)
      }
      mkdirSync(join(lab.home, 'daemon'), { recursive: true, mode: 0o700 })
      for (const name of ['daemon.json', 'health.json', 'port', 'notified', 'log', 'token']) {
        rmSync(join(lab.home, 'daemon', name), { recursive: true, force: true })
        await put(join(lab.home, 'daemon', name), kind, '/nowhere')
      }
      const { code, stderr } = await lab.hf(['daemon', 'start'], BOUND)
      expect([kind, code, stderr.includes('a bug')]).toEqual([kind, kind === 'directory' ? expect.any(Number) : 0, false])
      await lab.hf(['daemon', 'status'], BOUND)
      await lab.hf(['daemon', 'stop'], BOUND)
      for (const name of readdirSync(join(lab.home, 'daemon'))) if (name !== 'lock.db') rmSync(join(lab.home, 'daemon', name), { recursive: true })
    }
    for (const server of servers.splice(0)) server.close()
  }),
)

verifies('visible', "a link that appears in the place of the daemon's log is moved aside: nothing is written through it", () =>
  inLab(async (lab) => {
    await lab.ok(['daemon', 'start'])
    const [log, victim] = [join(lab.home, 'daemon', 'log'), join(lab.agentDir, 'victim')]
    writeFileSync(victim, 'mine')
    rmSync(log)
    symlinkSync(victim, log)
    await until(
      'the log to be a file again',
      () => lstatSync(log, { throwIfNoEntry: false })?.isFile() === true && readOr(log).includes('in the place of the log'),
    )
    rmSync(log)
    mkdirSync(log)
    await until('health to say why', async () => (await lab.hf(['daemon', 'status'])).stdout.includes('its own log (daemon/log) is a directory'))
    rmSync(log, { recursive: true })
    await until('health to be well again', async () => !(await lab.hf(['daemon', 'status'])).stdout.includes('is a directory'))
    expect(readOr(victim)).toBe('mine')
    await lab.ok(['daemon', 'stop'])
  }),
)

verifies('stop-proof', 'files that nobody can change or remove keep no agent alive, and no other run from being pruned', () =>
  inLab(async (lab) => {
    const files = ['exit', 'pid', 'run.json', 'tombstone', 'plan', '.']
    const started = startAll(
      lab,
      files.map((_, index) => `s${index}`),
    )
    const paths = files.map((file, index) => join(lab.home, 'runs', (started.get(`s${index}`) as Started).run, file))
    if (spawnSync('chattr', ['+i', ...paths]).status !== 0) {
      spawnSync('chattr', ['-i', ...paths])
      return unable('no file can be made immutable here')
    }
    try {
      await lab.ok(['stop', '--all', '--grace', '1s'], BOUND)
      for (const [name, { pid }] of started) expect([name, isAlive(pid)]).toEqual([name, false])
      await lab.ok(['run', '--session', 's0', '--dir', join(lab.dir, 's0'), '--', 'true'], BOUND)
      const { code, stdout, stderr } = await lab.hf(['prune'], BOUND)
      expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/^kept .*not all of it can be removed/m), ''])
    } finally {
      expect(spawnSync('chattr', ['-i', ...paths]).status).toBe(0)
    }
  }),
)

verifies('bounded', 'a keeper in a pane waits for no pipe in the place of its log, its screen or its ear', () =>
  inLab(async (lab) => {
    if (spawnSync('tmux', ['-V']).status !== 0) return unable('there is no tmux here')
    await lab.ok([
      'run',
      '--tmux',
      '--session',
      'p',
      '--dir',
      lab.dir,
      '--detach',
      '--',
      'sh',
      '-c',
      `until [ -e ${lab.agentDir}/go ]; do sleep 0.1; done; exit 7`,
    ])
    const { keeper, ...status } = await lab.status('p')
    for (const name of ['log', 'screen', 'both', 'ear']) await put(join(lab.home, 'runs', String(status['run']), name), 'fifo', '')
    writeFileSync(join(lab.agentDir, 'go'), '')
    await until('its keeper to be gone', () => !isAlive(keeper))
    expect(await lab.status('p')).toMatchObject({ state: 'failed', exit: { code: 7 } })
  }),
)
