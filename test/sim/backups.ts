import { copyFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { lookAt } from '../../src/act/index.ts'
import { recordMoved } from '../../src/app/conversation/write-renamed-ids.ts'
import { forgetBatch } from '../../src/app/maintenance/retention.ts'
import { recordChanged } from '../../src/app/recover/compare.ts'
import { recoverStore } from '../../src/app/recover/recover.ts'
import { verdict } from '../../src/decide/index.ts'
import type { LiveRun, NativeId, ProcessId, RunBase, Store } from '../../src/model/index.ts'
import { isLive, policy } from '../../src/model/index.ts'
import { loadSqlite } from '../../src/record/driver.ts'
import { openSqliteStore } from '../../src/record/index.ts'
import { directory } from '../decide/build.ts'
import { aClaim, aRun } from '../record/examples.ts'
import { simulated } from './simulated.ts'

/** A session as it is in truth, whatever a store says. */
export type Truth = {
  id: string
  former: readonly string[]
  epoch: number
  readonly dir: string
  native: NativeId | null
  live: { readonly run: RunBase; readonly keeper: ProcessId; readonly agent: ProcessId } | null
}

export type Backups = Awaited<ReturnType<typeof backups>>

/** Sessions that start, end, move and are forgotten, while their store is copied, and copies are put in its place. Processes are simulated. */
export async function backups() {
  const sim = await simulated()
  const folder = dirname(dirname(sim.runRecords.path('any')))
  const truths: Truth[] = []
  const copies: string[] = []
  let path = join(folder, 'db')
  let store: Store = sim.store
  let changes = 0
  let serial = 0
  let pids = 1000
  const open = (): Promise<Store> => openSqliteStore({ path, clock: sim.clock, patienceMs: 2000, writePatienceMs: 2000, backoff: () => 1 })
  const runRecords: typeof sim.runRecords = {
    ...sim.runRecords,
    stamp: () => String(changes),
    create(run) {
      sim.runRecords.create(run)
      changes++
    },
    remove(run) {
      sim.harnesses.delete(run)
      sim.exits.delete(run)
      changes++
      return sim.runRecords.remove(run)
    },
  }
  const directories = { look: (dir: string) => directory(dir), mounts: () => [] } as Partial<Parameters<typeof recoverStore>[1]['directories']>
  const liveRoots = () => store.runs.roots()
  const world = { ...sim, runRecords, policy, liveRoots, directories: directories as Parameters<typeof recoverStore>[1]['directories'] }

  /** `stage`: how far its launcher comes before it is killed; `copied`: the store is copied before it has the keeper. */
  async function start(truth: Truth, native: boolean, stage: 'claim' | 'directory' | 'keeper' | 'copied' | 'all'): Promise<void> {
    if (truth.live !== null) return
    const n = ++serial
    const carried = native ? { harness: 'claude', id: `n${n}` } : null
    const run = aRun(truth.id, truth.epoch + 1, { dir: truth.dir, startedAt: 1_700_000_000_000 + n, tmux: null })
    const answer = await store.claims.claim(aClaim(run, { harness: 'claude', native: carried?.id ?? null, seenLock: 1e9 }))
    if (answer.kind !== 'won') throw new Error(`${truth.id} could not be claimed: ${answer.why}`)
    truth.epoch = run.epoch
    if (stage === 'claim') return
    const former = truth.former.length === 0 ? {} : { former: truth.former }
    runRecords.create({ ...run, keeper: null, ...former })
    if (carried !== null) world.agentState.recordNative(run.id, carried)
    if (stage === 'directory') return
    const keeper = { pid: ++pids, ticks: pids * 10 }
    runRecords.recordKeeper(run.id, keeper)
    if (stage === 'keeper') return
    if (stage === 'copied') backUp()
    await store.claims.recordRunning(run, keeper, 1)
    sim.add(keeper)
    const agent = sim.add({ pid: ++pids, parent: keeper.pid, marker: run.marker, cookie: run.cookie })
    sim.harnesses.set(run.id, agent)
    truth.native = carried
    truth.live = { run, keeper, agent }
  }

  function backUp(): void {
    const copy = join(folder, `copy-${copies.length}`)
    const db = new (loadSqlite().DatabaseSync)(path)
    db.exec(`VACUUM INTO '${copy}'`)
    db.close()
    copies.push(copy)
  }

  /** `recorded`: somebody writes it down at once. */
  async function end(truth: Truth, recorded: boolean): Promise<void> {
    if (truth.live === null) return
    const { run, keeper, agent } = truth.live
    for (const { pid } of [keeper, agent]) sim.remove(pid)
    sim.exits.set(run.id, { exit: { code: 0, signal: null }, told: null, at: 1 })
    truth.live = null
    if (recorded) await settle(truth.id)
  }

  /** As every start does it: the last run of a session is judged before the next one is claimed. */
  async function settle(id: string): Promise<void> {
    const found = await store.sessions.find(id, 'exact')
    const run = found.kind === 'found' ? found.view.run : null
    if (run === null || !isLive(run)) return
    const judged = verdict(run, await lookAt(run, world))
    if (judged.kind === 'over') await store.claims.recordEnded(run, judged.ending, null, 2)
  }

  async function rebind(truth: Truth): Promise<void> {
    if (truth.epoch === 0) return
    const to = `${truth.dir.slice(3)}-${++serial}`
    const answer = await store.sessions.rebind({ session: truth.id, epoch: truth.epoch, to, native: null, how: 'test', at: 1 })
    if (answer.kind !== 'bound') throw new Error(`${truth.id} could not be rebound`)
    truth.former = [...truth.former, truth.id]
    truth.id = to
    await recordMoved(world, store, answer.moved)
  }

  async function goOn(truth: Truth): Promise<void> {
    if (truth.live === null) return
    const native = { harness: 'claude', id: `n${++serial}` }
    const run = (await store.runs.get(truth.live.run.id)) as LiveRun
    await store.conversations.bind(run, native, { how: 'test' }, 1)
    world.agentState.recordNative(run.id, native)
    await recordChanged(store, runRecords)
    truth.native = native
  }

  return {
    truths,
    world,
    store: () => store,
    open,
    start: async (which: number, native: boolean, stage: Parameters<typeof start>[2]) => {
      const truth = truths[which] ?? { id: `s${truths.length}`, former: [], epoch: 0, dir: `/d/s${truths.length}`, native: null, live: null }
      if (!truths.includes(truth)) truths.push(truth)
      if (truth.live === null) await settle(truth.id)
      await start(truth, native, stage)
    },
    end,
    rebind,
    goOn,
    forget: () => forgetBatch(world, store, { endedBefore: Number.MAX_SAFE_INTEGER, keep: 0, limit: 100 }),
    backUp,
    async putBack(which: number): Promise<boolean> {
      const copy = copies[which % Math.max(1, copies.length)]
      if (copy === undefined) return false
      store.close()
      path = join(folder, `db-${++serial}`)
      copyFileSync(copy, path)
      store = await open()
      return true
    },
    recover: (into: Store = store) => recoverStore(into, world, 'writer'),
    close: () => store.close(),
  }
}
