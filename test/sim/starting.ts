import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Caller } from '../../src/app/caller/prove-caller.ts'
import type { StartRequest } from '../../src/app/start/request.ts'
import type { World } from '../../src/app/world/world.ts'
import { HARNESSES } from '../../src/harness/index.ts'
import { originFiles } from '../../src/keep/index.ts'
import type { Environment, Harness, HostedKeeper, Launch, Namespaces, PaneTrouble, Place, ProcessId } from '../../src/model/index.ts'
import { NOTIFY_DEFAULT, WORK_DEFAULT } from '../../src/model/index.ts'
import { ownProcess, realDirectories } from '../../src/observe/index.ts'
import { place } from '../record/examples.ts'
import { noConnections, noKeepers, noNotifiers, noPanes } from './edges.ts'
import { simulated } from './simulated.ts'

/** What a test may change of the world before a start. */
export type Knobs = {
  place: Place
  configTrouble: string | null
  tmuxTrouble: PaneTrouble | null
  namespaces: Namespaces | null
  own: Harness[]
  unreadable: readonly string[]
}

export type Starting = Awaited<ReturnType<typeof starting>>

/** A simulated world in which sessions can be started: keepers, panes and worktrees are simulated, too; directories and programs are files. */
export async function starting() {
  const sim = await simulated()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hf-starting-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const bin = join(folder, 'bin')
  const worktreesFolder = join(folder, 'home', 'worktrees')
  const dir = join(folder, 'work')
  const repository = join(folder, 'repository')
  for (const path of [bin, worktreesFolder, dir, join(repository, '.git')]) mkdirSync(path, { recursive: true })
  const knobs: Knobs = { place, configTrouble: null, tmuxTrouble: null, namespaces: null, own: [], unreadable: [] }
  const env: NodeJS.ProcessEnv = { PATH: bin, HOME: join(folder, 'user') }
  const programs = new Map<number, { readonly argv: readonly string[]; readonly cwd: string }>()
  const agents = new Map<number, { readonly run: string; readonly keeper: ProcessId }>()
  const worktrees: string[] = []
  let pids = 1000

  const spawn = async ({ run }: Launch): Promise<HostedKeeper> => {
    const keeper = sim.add({ pid: ++pids })
    const open = (): void => {
      const agent = sim.add({ pid: ++pids, parent: keeper.pid, marker: run.marker, cookie: run.cookie, name: basename(run.argv[0] ?? '') })
      programs.set(agent.pid, { argv: run.argv, cwd: run.dir })
      agents.set(agent.pid, { run: run.id, keeper })
      sim.harnesses.set(run.id, agent)
    }
    return { keeper, open, close: () => sim.remove(keeper.pid), server: null, namespaces: {} }
  }

  /** The keeper of an agent that was ended writes that down, and leaves. */
  const leave = (pid: number): void => {
    const agent = agents.get(pid)
    if (agent === undefined || sim.processes.sample(pid).kind === 'seen') return
    sim.exits.set(agent.run, { exit: { code: 143, signal: 'SIGTERM' }, told: null, at: sim.clock.now() })
    sim.remove(agent.keeper.pid)
  }

  const world: World = {
    ...sim,
    home: join(folder, 'home'),
    worktreesFolder,
    assets: 'dist',
    env,
    host: 'box',
    user: () => 'ann',
    store: async () => sim.store,
    unreadable: () => knobs.unreadable,
    harnesses: () => [...HARNESSES, ...knobs.own],
    ownHarnesses: () => knobs.own,
    toolPidFiles: () => [],
    configFile: () => null,
    configTrouble: () => knobs.configTrouble,
    homeTrouble: null,
    readDatabase: () => null,
    directories: realDirectories(worktreesFolder),
    own: { ...ownProcess, parent: () => process.ppid, verb: () => 'run', terminal: () => null },
    connections: noConnections,
    defaultHome: () => join(folder, 'home'),
    userFolder: () => join(folder, 'user'),
    daemonPort: () => null,
    notifiers: noNotifiers,
    notify: () => NOTIFY_DEFAULT,
    processes: {
      ...sim.processes,
      here: () => knobs.place,
      arguments: (pid) => programs.get(pid)?.argv ?? [],
      cwd: (pid) => programs.get(pid)?.cwd ?? null,
      environment: (pid) => (programs.has(pid) ? (env as Environment) : {}),
      send(id, signal) {
        const answer = sim.processes.send(id, signal)
        leave(id.pid)
        return answer
      },
    },
    keepers: { ...noKeepers, spawn },
    panes: {
      ...noPanes,
      trouble: () => knobs.tmuxTrouble,
      namespaces: async () => knobs.namespaces,
      socket: () => join(folder, 'tmux'),
      spawn,
    },
    branches: {
      base: async () => ({ commit: 'c0' }),
      look: async () => ({ kind: 'seen', head: 'c0', commits: 0, remote: null }),
      progress: async () => 'p',
      changes: async () => [],
      push: async () => null,
    },
    workflows: {
      read: async () => ({ kind: 'none', branch: 'main', commit: 'c0' }),
      parse: () => ({ settings: null, prompt: '' }),
      render: (template) => template,
      trusted: () => null,
      trust: () => {},
      forget: () => {},
    },
    work: () => WORK_DEFAULT,
    sources: () => [],
    worktreeOrigins: originFiles(join(folder, 'home', 'origins')),
    source: () => {
      throw new Error('there is no source')
    },
    worktrees: {
      head: async () => ({ kind: 'seen', commit: 'abc' }),
      async add({ path }) {
        worktrees.push(path)
        mkdirSync(join(path, '.git'), { recursive: true })
        return null
      },
      state: async () => ({ kind: 'clean', branch: null }),
      content: async () => ({ kind: 'unknown', why: 'simulated' }),
      branchAt: async () => null,
      merge: async () => ({ kind: 'nothing' }),
      discard: async () => ({ kind: 'refused', why: 'simulated' }),
      async remove(path) {
        rmSync(path, { recursive: true })
        return null
      },
    },
  }

  return {
    sim,
    world,
    knobs,
    env,
    dir,
    repository,
    /** Every worktree that was ever made. */
    worktrees,
    /** Those that are there. */
    worktreesFolder: () => readdirSync(worktreesFolder),
    /** An executable on PATH. */
    program(name: string): string {
      writeFileSync(join(bin, name), '', { mode: 0o755 })
      return join(bin, name)
    },
    file(text: string): string {
      const path = join(folder, `file-${++pids}`)
      writeFileSync(path, text)
      return path
    },
    /** A conversation of Claude Code, as it lies on disk. */
    conversation(id: string): void {
      const projects = join(folder, 'user', '.claude', 'projects', '-w')
      mkdirSync(projects, { recursive: true })
      writeFileSync(join(projects, `${id}.jsonl`), `${JSON.stringify({ type: 'user', sessionId: id, cwd: dir })}\n`)
    },
    forgetConversation: (id: string): void => rmSync(join(folder, 'user', '.claude', 'projects', '-w', `${id}.jsonl`)),
    /** What an agent of a run, or a script, has started. */
    child(parent: ProcessId, argv: readonly string[], cwd: string): ProcessId {
      const seen = sim.processes.sample(parent.pid)
      const { marker = null, cookie = null } = seen.kind === 'seen' ? seen.row : {}
      const id = sim.add({ pid: ++pids, parent: parent.pid, marker, cookie, name: basename(argv[0] ?? '') })
      programs.set(id.pid, { argv, cwd })
      return id
    },
    /** It works elsewhere from now on. */
    move: ({ pid }: ProcessId, cwd: string): void => void programs.set(pid, { argv: programs.get(pid)?.argv ?? [], cwd }),
    /** An agent at work that Holdfast did not start. */
    stranger(argv: readonly string[], cwd: string): ProcessId {
      const id = sim.add({ pid: ++pids, name: basename(argv[0] ?? '') })
      programs.set(id.pid, { argv, cwd })
      return id
    },
  }
}

/** Started from no session, by no command that waits. */
export const outside: Caller = { front: null, lineage: [], parent: null, ancestors: [] }

export const aRequest = (lab: Starting, more: Partial<StartRequest> = {}): StartRequest => ({
  session: 's',
  argv: [lab.program('tool')],
  dir: lab.dir,
  detach: true,
  onLive: 'refuse',
  ...more,
})
