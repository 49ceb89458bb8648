import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { EndRunPorts } from '../../src/act/index.ts'
import { runFiles } from '../../src/keep/index.ts'
import type { Clock, ExitRecord, LiveRun, ProcessId, ProcessRow, RunFiles, Signal, Store } from '../../src/model/index.ts'
import { isDead, policy } from '../../src/model/index.ts'
import { openSqliteStore } from '../../src/record/index.ts'
import { aClaim, aRun, place } from '../record/examples.ts'

export type Sent = { readonly pid: number; readonly signal: Signal }
type Simulated = EndRunPorts &
  RunFiles & {
    readonly store: Store
    readonly sent: Sent[]
    /** Puts a process into the world. `deaf`: it only heeds KILL. */
    add(row: Partial<ProcessRow> & { pid: number }, deaf?: boolean): ProcessId
    remove(pid: number): void
    /** Runs when the virtual clock gets there. */
    after(ms: number, what: () => void): void
    readonly exits: Map<string, ExitRecord>
    readonly harnesses: Map<string, ProcessId>
    launch(session: string, more?: Partial<LiveRun>): Promise<LiveRun>
    close(): void
  }

/** A world without an operating system: processes are rows, time is a number; the store and the files of runs are real. */
export async function simulated(): Promise<Simulated> {
  const folder = mkdtempSync(join(tmpdir(), 'hf-sim-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  let now = 0
  const due: { at: number; what: () => void }[] = []
  const rows = new Map<number, ProcessRow & { deaf: boolean }>()
  const sent: Sent[] = []
  const exits = new Map<string, ExitRecord>()
  const harnesses = new Map<string, ProcessId>()
  const files = runFiles(folder)
  mkdirSync(join(folder, 'runs'))
  const advance = (ms: number): void => {
    now += ms
    for (const entry of due.splice(0)) {
      if (entry.at <= now) entry.what()
      else due.push(entry)
    }
  }
  const clock: Clock = { now: () => 1_700_000_000_000 + now, elapsed: () => now, sleep: async (ms) => advance(ms), random: () => 0.5 }
  const store = await openSqliteStore({ path: join(folder, 'db'), clock, patienceMs: 100, writePatienceMs: 100, backoff: () => 1 })
  const heed = (pid: number, signal: Signal): void => {
    const row = rows.get(pid)
    if (row === undefined) return
    if (signal === 'SIGKILL' || (signal === 'SIGTERM' && !row.deaf && row.state !== 'T')) rows.delete(pid)
    else if (signal === 'SIGSTOP') rows.set(pid, { ...row, state: 'T' })
    else if (signal === 'SIGCONT') rows.set(pid, { ...row, state: 'S' })
  }
  return {
    clock,
    policy,
    store,
    sent,
    exits,
    harnesses,
    processes: {
      here: () => place,
      self: () => ({ pid: 99_999, ticks: 1 }),
      origins: () => [{ pid: 99_999, ticks: 1 }],
      ticks: () => 100_000 + Math.floor(now / 10),
      sample: (pid) => (rows.has(pid) ? { kind: 'seen', row: rows.get(pid) as ProcessRow } : { kind: 'absent' }),
      table: () => ({ rows: [...rows.values()], blind: null }),
      arguments: () => [],
      environment: () => ({}),
      cwd: () => null,
      children: (pid) => [...rows.values()].filter(({ parent }) => parent === pid).map((one) => one.pid),
      writes: () => [],
      exe: () => null,
      marker: (pid) => rows.get(pid)?.marker,
      ports: () => new Map(),
      cpu: () => null,
      terminal: () => null,
      isTerminalSince: () => false,
      isNamespaceGone: () => false,
      namesakes: () => [],
      hides: () => false,
      send(id, signal) {
        const row = rows.get(id.pid)
        if (row === undefined || isDead(row.state)) return 'gone'
        if (row.ticks !== id.ticks) return 'someone-else'
        sent.push({ pid: id.pid, signal })
        heed(id.pid, signal)
        return 'sent'
      },
    },
    cgroups: {
      base: () => ({ kind: 'none', why: 'simulated', mount: null }),
      view: () => ({ kind: 'absent' }),
      cpuMs: () => null,
      list: () => [],
      nameOf: () => null,
    },
    containers: { make: () => null, admit: () => false, freeze: () => false, thaw: () => false, kill: () => false, remove: () => true },
    spares: () => [],
    harnessDaemons: () => [],
    tokensOfRun: () => null,
    exitsZeroAfter: () => [],
    nestedAgents: () => [],
    recordNestedAgents: async () => {},
    learnAtEnd: async () => {},
    harnessDaemonRules: { variables: new Map(), backgroundId: () => null, handsOver: () => null, worksThrough: () => null },
    ask: async () => {},
    ...files,
    evidence: { ...files.evidence, harness: (run) => harnesses.get(run) ?? null, exit: (run) => exits.get(run) ?? null },
    ownDaemon: () => null,
    liveRoots: () => store.runs.roots(),
    add({ pid, ...more }, deaf = false) {
      const row = {
        ticks: pid * 10,
        state: 'S',
        parent: 1,
        group: pid,
        session: pid,
        uid: 0,
        name: `p${pid}`,
        waitStatus: null,
        marker: null,
        cookie: null,
        ...more,
      }
      rows.set(pid, { pid, ...row, deaf })
      return { pid, ticks: row.ticks }
    },
    remove: (pid) => void rows.delete(pid),
    after: (ms, what) => void due.push({ at: now + ms, what }),
    async launch(session, more = {}) {
      const keeper = { pid: 200, ticks: 2000 }
      const run = aRun(session, 1, { dir: `/d/${session}`, ...(more as object) })
      files.runRecords.create({ ...run, keeper: null })
      await store.claims.claim(aClaim(run, { keeper: 'keeper' in more ? (more.keeper ?? null) : keeper }))
      return (await store.runs.get(run.id)) as LiveRun
    },
    close: () => store.close(),
  }
}
