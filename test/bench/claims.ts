import { realClock } from '../../src/app/world/clock.ts'
import { openSqliteStore } from '../../src/record/index.ts'

/** claims.mjs DATABASE COUNT WORKER: claims and ends as many runs, each of a session of its own. */
const [path = '', count = '0', worker = '0'] = process.argv.slice(2)
const place = { install: 'i', machine: 'm', boot: 'b', pidNamespace: 'p', timeNamespace: 't' }
const store = await openSqliteStore({ path, clock: realClock, patienceMs: 10_000, writePatienceMs: 10_000, backoff: () => 2 })
for (let index = 0; index < Number(count); index++) {
  const session = `s${worker}-${index}`
  const dir = `/d/${session}`
  const run = {
    id: `r${worker}${String(index).padStart(11, '0')}`,
    session,
    epoch: 1,
    place,
    launcher: { pid: 2, ticks: 1 },
    marker: null,
    cookie: 'c',
    argv: ['x'],
    dir,
    detached: true,
    until: 'harness' as const,
    deadlineAt: null,
    parent: null,
    independent: false,
    containment: { level: 'none' as const, why: 'a benchmark' },
    task: null,
    adopted: false,
    budget: null,
    budgetCost: null,
    tmux: null,
    host: 'h',
    user: 'u',
    tty: null,
    startedAt: index,
  }
  const answer = await store.claims.claim({
    run,
    keeper: { pid: 3, ticks: 2 },
    name: null,
    directory: { path: dir, key: `1:${dir}`, inner: `1@${dir}`, above: ['1:/', '1@/'], below: [], repository: null },
    seenEpoch: 0,
    harness: null,
    native: null,
    seenLock: index,
    share: null,
    reason: 'a benchmark',
    ancestors: [],
  })
  if (answer.kind !== 'won') throw new Error(`lost: ${answer.why}`)
  await store.claims.recordEnded(
    { ...run, state: 'running', keeper: { pid: 3, ticks: 2 } },
    { state: 'completed', exit: { code: 0, signal: null }, reason: 'exit code 0', evidence: [], by: 'keeper' },
    null,
    index,
  )
}
store.close()
