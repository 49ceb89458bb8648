import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { World } from '../../src/app/world/world.ts'
import type { Place, ProcessId, RunBase } from '../../src/model/index.ts'
import { intentOf, LINEAGE_VARIABLE } from '../../src/model/index.ts'
import { realDirectories } from '../../src/observe/index.ts'
import { aClaim, anEnding, aRun, place } from '../record/examples.ts'
import { noKeepers } from './edges.ts'
import { simulated } from './simulated.ts'

/** A session as the model knows it: by what it is, whatever it is called. */
export type Token = {
  id: string
  /** What it was called at first; and all that it was called since, and that nobody else took when it was over. */
  readonly first: string
  former: readonly string[]
  readonly parent: Token | null
  readonly isTask: boolean
  readonly isFar: boolean
  run: RunBase
  keeper: ProcessId | null
  /** Its agent, while that lives. */
  agent: ProcessId | null
  /** What its agent has left behind, and lives. */
  left: ProcessId | null
  /** An agent of an earlier run that was taken over, and lives on. */
  retired: { readonly run: RunBase; readonly agent: ProcessId } | null
}

/** Who asks: a process below one of these, with an environment. */
export type Caller = { readonly below: ProcessId | null; readonly env: Readonly<Record<string, string>> }

export const livesOf = (token: Token): ProcessId | null => token.agent ?? token.left
/** Alive, or nobody can tell. */
export const mayLive = (token: Token): boolean => token.isFar || livesOf(token) !== null

export type History = Awaited<ReturnType<typeof history>>

/** Sessions that join, move, die and are taken over, in a store that is real and among processes that are not. */
export async function history() {
  const sim = await simulated()
  const folder = mkdtempSync(join(tmpdir(), 'hf-history-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'sessions'))
  const parents = new Map<number, number>()
  const claudes = new Set<number>()
  const tokens: Token[] = []
  /** Pids whose process has died, and that may be used again. */
  const free: number[] = []
  let ticks = 1000
  let pids = 1000
  let ids = 0

  const born = (parent: number, more: { marker?: number | null; cookie?: string; name?: string; pid?: number } = {}): ProcessId => {
    const pid = more.pid ?? ++pids
    const { marker = null, cookie = null, name = `p${pid}` } = more
    parents.set(pid, parent)
    if (name === 'claude') claudes.add(pid)
    else claudes.delete(pid)
    return sim.add({ pid, ticks: ++ticks, parent, marker, cookie, name })
  }
  const die = ({ pid, ticks: start }: ProcessId): void => {
    if (rowOf(pid)?.ticks !== start) return
    sim.remove(pid)
    free.push(pid)
    // What it had started gets another parent, as the kernel does it.
    for (const [child, parent] of parents) if (parent === pid) parents.set(child, 1)
  }

  /** What Claude Code would write of its process; it stays when that is killed. */
  const register = ({ pid, ticks: start }: ProcessId, sessionId: string): void =>
    writeFileSync(
      join(folder, 'sessions', `${pid}.json`),
      JSON.stringify({ pid, sessionId, cwd: '/w', procStart: String(start), kind: 'interactive' }),
    )

  type How = { readonly parent?: Token | null; readonly marked: boolean; readonly isTask?: boolean; readonly isFar?: boolean }
  async function join_({ parent = null, marked, isTask = false, isFar = false }: How): Promise<void> {
    const id = `s${++ids}`
    const token: Token = { id, first: id, former: [], parent, isTask, isFar, run: aRun(id), keeper: null, agent: null, left: null, retired: null }
    await begin(token, marked)
    tokens.push(token)
  }

  async function begin(token: Token, marked: boolean): Promise<void> {
    const { parent, id, isFar, first } = token
    const epoch = tokens.includes(token) ? token.run.epoch + 1 : 1
    const around = parent?.agent?.pid ?? 1
    const there: Place = isFar ? { ...place, machine: 'elsewhere', boot: 'another' } : place
    const run = aRun(id, epoch, {
      place: there,
      dir: `/w/${first}`,
      parent: parent?.run.id ?? null,
      independent: true,
      task: token.isTask ? 'cancel' : null,
      launcher: { pid: 2, ticks: 1 },
      // Where markers can be given, they can be given inside, too.
      ...(marked || parent?.run.marker != null ? {} : { marker: null }),
    })
    const keeper = isFar ? { pid: 7, ticks: 7 } : born(around)
    const native = { harness: 'claude', native: `native-${first}` }
    await sim.store.claims.claim(aClaim(run, { keeper, ...native }))
    Object.assign(token, { run, keeper, left: null })
    if (isFar) return
    token.agent = born(keeper.pid, { marker: run.marker, cookie: run.cookie, name: 'claude' })
    sim.harnesses.set(run.id, token.agent)
    register(token.agent, native.native)
  }

  async function adopt(marked: boolean): Promise<void> {
    const id = `s${++ids}`
    const agent = born(1, { name: 'claude' })
    const run = aRun(id, 1, { dir: `/w/${id}`, adopted: true, launcher: agent, detached: false, ...(marked ? {} : { marker: null }) })
    if (run.marker !== null) sim.add({ pid: agent.pid, ticks: agent.ticks, parent: 1, marker: run.marker, name: 'claude' })
    await sim.store.claims.claim(aClaim(run))
    sim.harnesses.set(run.id, agent)
    tokens.push({ id, first: id, former: [], parent: null, isTask: false, isFar: false, run, keeper: null, agent, left: null, retired: null })
  }

  /** To a new id, or to one that somebody has or had: `choice` says which. */
  async function rebind(token: Token, choice: number): Promise<void> {
    const used = tokens.flatMap(({ id, former }) => [id, ...former])
    const to = choice % 2 === 0 ? `s${++ids}` : (used[choice % used.length] ?? token.id)
    const answer = await sim.store.sessions.rebind({ session: token.id, epoch: token.run.epoch, to, native: null, how: 'test', at: 1 })
    if (answer.kind === 'lost') throw new Error('nobody else moves it')
    if (answer.kind === 'taken' || !answer.changed) return
    // Who had it and was over is called otherwise now; who was once called so no longer is.
    for (const other of tokens) {
      if (other !== token && other.id === to) other.id = answer.aside ?? to
      other.former = other.former.filter((id) => id !== to)
    }
    token.former = [...token.former, token.id]
    token.id = to
  }

  /** The session that is found by an id. */
  const found = async (id: string): Promise<string | null> => {
    const view = await sim.store.sessions.find(id, 'exact')
    return view.kind === 'found' ? view.view.session.id : null
  }

  /** Killed, and nobody writes it down. `leave`: something that it had started lives on; `exit`: its keeper does, and has not got round to it. */
  function kill(token: Token, how: 'kill' | 'leave' | 'exit'): void {
    if (token.agent === null) return
    const { marker, cookie } = token.run
    if (how === 'leave') token.left = born(token.agent.pid, { marker, cookie })
    if (token.keeper !== null && how !== 'exit') die(token.keeper)
    die(token.agent)
    token.agent = null
  }

  /** The next run of its session. `leaving`: the agent of the last one lives on, although its run is over on record. */
  async function supersede(token: Token, leaving: boolean, marked: boolean): Promise<void> {
    const run = await sim.store.runs.get(token.run.id)
    if (token.isFar || token.run.adopted || run === null || intentOf(run) !== null) return
    if (leaving && token.agent !== null) {
      token.retired = { run: token.run, agent: token.agent }
      if (token.keeper !== null) die(token.keeper)
    } else for (const one of [token.agent, token.keeper, token.left]) if (one !== null) die(one)
    if (run.state === 'running') await sim.store.claims.recordEnded(run, anEnding({ state: 'superseded' }), token.agent, 1)
    await begin(token, marked)
  }

  /** A stranger gets the pid of one that has died. Harnesses leave what they wrote about that. */
  const recycle = (): void => {
    const pid = free.shift()
    if (pid !== undefined) strangers.push(born(1, { pid, name: 'claude' }))
  }
  const strangers: ProcessId[] = []

  const envOf = ({ id, epoch, cookie, session }: RunBase): Record<string, string> => ({
    HOLDFAST_RUN: id,
    HOLDFAST_SESSION: session,
    HOLDFAST_EPOCH: String(epoch),
    [LINEAGE_VARIABLE]: `outer:${cookie}`,
  })

  /** The world as a process below another one finds it. */
  async function asked<T>({ below, env }: Caller, ask: (world: World) => Promise<T>): Promise<T> {
    const row = below === null ? undefined : rowOf(below.pid)
    const self = born(below?.pid ?? 1, { pid: 99_998, marker: row?.marker ?? null, ...(row?.cookie ? { cookie: row.cookie } : {}) })
    const origins = [self]
    for (let pid = parents.get(self.pid); pid !== undefined && pid > 1; pid = parents.get(pid)) {
      const seen = rowOf(pid)
      if (seen === undefined) break
      origins.push({ pid, ticks: seen.ticks })
    }
    try {
      return await ask(worldOf(self, origins, env))
    } finally {
      sim.remove(self.pid)
      parents.delete(self.pid)
    }
  }

  const rowOf = (pid: number) => {
    const seen = sim.processes.sample(pid)
    return seen.kind === 'seen' ? seen.row : undefined
  }

  function worldOf(self: ProcessId, origins: readonly ProcessId[], env: Readonly<Record<string, string>>): World {
    const isClaude = (pid: number): boolean => claudes.has(pid)
    const secretOf = (pid: number): Record<string, string> => {
      const cookie = rowOf(pid)?.cookie
      return cookie == null ? {} : { [LINEAGE_VARIABLE]: cookie }
    }
    const processes: World['processes'] = {
      ...sim.processes,
      self: () => self,
      origins: () => origins,
      marker: (pid) => rowOf(pid)?.marker,
      arguments: (pid) => (isClaude(pid) ? ['claude', `--seed=${pid}`] : []),
      exe: (pid) => (isClaude(pid) ? '/usr/bin/claude' : null),
      environment: (pid) => ({ ...(isClaude(pid) ? { CLAUDE_CONFIG_DIR: folder } : {}), ...secretOf(pid) }),
      cwd: (pid) => (isClaude(pid) ? '/w' : null),
    }
    const places = { env, home: folder, worktreesFolder: '/islands' }
    const parts = {
      ...sim,
      ...places,
      processes,
      directories: realDirectories(places.worktreesFolder),
      harnesses: () => [],
      ownHarnesses: () => [],
      keepers: noKeepers,
      store: async () => sim.store,
    }
    // What is left out is never asked for here.
    return parts as Partial<World> as World
  }

  return { tokens, strangers, join: join_, adopt, rebind, kill, supersede, recycle, envOf, asked, found, close: () => sim.close() }
}
