// Numbers of the design (§11) that exist by now, as ratios measured side by side in one run: these machines are noisy.
// `npm run bench` prints a table; `--json` an object. Every figure is a median.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { layAgents } from './agents.mjs'

const HOLDFAST = resolve('bin/holdfast')
const root = mkdtempSync(join(tmpdir(), 'hf-bench-'))
const home = (name) => join(root, name)
const env = (name) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('HOLDFAST_'))),
  HOLDFAST_HOME: home(name),
})
const quick = process.argv.includes('--quick')
const rounds = quick ? 7 : 21

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
const time = (command, args, options = {}) => {
  const began = performance.now()
  const { status, stderr } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8', ...options })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
  return performance.now() - began
}
/** Candidates take turns, so that noise hits all alike. */
const together = (candidates) => {
  const times = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) for (const [name, run] of Object.entries(candidates)) times[name].push(run())
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]))
}
const dir = (name) => {
  mkdirSync(join(root, name), { recursive: true })
  return join(root, name)
}
const rows = []
const row = (what, target, value, ok) => rows.push({ what, target, value, ok })
const ms = (number) => `${number.toFixed(1)} ms`
const times = (number) => `${number.toFixed(2)} ×`

try {
  const library = await import(resolve('dist/library.js'))
  const node = () => time('node', ['-e', '0'])

  // Launch.
  const launch = together({
    node,
    run: () => time(HOLDFAST, ['run', '--session', 'one', '--dir', dir('d'), '--', 'true'], { env: env('launch') }),
    detached: () => time(HOLDFAST, ['run', '--dir', dir('d'), '--detach', '--wait', '5s', '--', 'true'], { env: env('launch2') }),
  })
  row(
    'launch: run -- true, from start to recorded end',
    '≤ 4 × node -e 0',
    `${times(launch.run / launch.node)} (${ms(launch.run)} / ${ms(launch.node)})`,
    launch.run <= 4 * launch.node,
  )
  row(
    'launch: run --detach -- true, until the agent is on record',
    '≤ 4 × node -e 0',
    `${times(launch.detached / launch.node)} (${ms(launch.detached)})`,
    launch.detached <= 4 * launch.node,
  )

  // Fence.
  const fence = join(dir('d'), 'retired')
  const hook = together({
    sh: () => time('sh', ['-c', ':']),
    check: () => time('sh', ['-c', '[ -e "$HOLDFAST_FENCE" ] && exit 1; exit 0'], { env: { ...process.env, HOLDFAST_FENCE: fence } }),
  })
  row(
    'fence check in a hook',
    '≤ 3 ms, ≤ 3 × sh -c :',
    `${times(hook.check / hook.sh)} (${ms(hook.check)})`,
    hook.check <= 3 * hook.sh && hook.check <= 5,
  )

  // A lock check, of a free directory and of a held one, with nobody else about.
  spawnSync(HOLDFAST, ['run', '--session', 'holder', '--dir', dir('held'), '--detach', '--', 'sleep', '3600'], { env: env('locks') })
  const checked = (name, code) => () => {
    const began = performance.now()
    const { status } = spawnSync(HOLDFAST, ['lock', '--check', dir(name)], { env: env('locks'), stdio: 'ignore' })
    if (status !== code) throw new Error(`lock --check ${name}: ${status}`)
    return performance.now() - began
  }
  const locks = together({ node, free: checked('free', 0), held: checked('held', 75) })
  spawnSync(HOLDFAST, ['stop', 'holder'], { env: env('locks') })
  for (const name of ['free', 'held'])
    row(
      `lock --check of a ${name} directory`,
      '≤ 2 × node -e 0',
      `${times(locks[name] / locks.node)} (${ms(locks[name])})`,
      locks[name] <= 2 * locks.node,
    )

  // 100 live sessions, and 10,000 ended ones beside them.
  const many = library.openHoldfast({ home: home('many'), env: env('many') })
  const live = 100
  for (let index = 0; index < live; index++) await many.start({ session: `live-${index}`, dir: dir(`many/${index}`), argv: ['sleep', '3600'] })
  const ls = () => time(HOLDFAST, ['ls', '--json'], { env: env('many') })
  const listed = together({ node, ls })
  row(
    `ls with ${live} live sessions, OS-verified`,
    '≤ 2 × node -e 0',
    `${times(listed.ls / listed.node)} (${ms(listed.ls)} / ${ms(listed.node)})`,
    listed.ls <= 2 * listed.node,
  )
  const keepers = (await many.list()).map(({ run }) => run.keeper.pid)
  const pss = (pid) => Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1]) / 1024
  const mean = (numbers) => numbers.reduce((a, b) => a + b, 0) / numbers.length
  const detached = mean(keepers.map(pss))
  row('resident per detached session, agent aside', '≤ 0.3 MB PSS', `${detached.toFixed(2)} MB (mean of ${keepers.length})`, detached <= 0.3)

  // In the foreground a keeper has an ear.
  const front = Array.from({ length: 10 }, (_, index) =>
    spawn(HOLDFAST, ['run', '--session', `front-${index}`, '--dir', dir(`front/${index}`), '--', 'sleep', '3600'], {
      env: env('many'),
      stdio: 'ignore',
    }),
  )
  const families = []
  for (let tries = 0; families.length < front.length && tries < 500; tries++) {
    await new Promise((next) => setTimeout(next, 20))
    families.length = 0
    for (const { run, pid } of await many.list()) {
      if (run.detached || pid === null) continue
      const children = readFileSync(`/proc/${run.keeper.pid}/task/${run.keeper.pid}/children`, 'latin1').trim().split(' ').map(Number)
      if (children.length === 2) families.push([run.keeper.pid, ...children.filter((child) => child !== pid)])
    }
  }
  if (families.length < front.length) throw new Error('the foreground runs did not start')
  const inFront = mean(families.map((family) => family.map(pss).reduce((a, b) => a + b)))
  row('resident per foreground session, agent aside', '≤ 0.3 MB PSS', `${inFront.toFixed(2)} MB (mean of ${families.length})`, inFront <= 0.3)
  await many.stop({ references: front.map((_, index) => `front-${index}`) })
  const ticks = () =>
    keepers.reduce(
      (sum, pid) =>
        sum +
        Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ')[11]) +
        Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ')[12]),
      0,
    )
  const before = ticks()
  await new Promise((next) => setTimeout(next, 2000))
  row('processor time of 100 idle keepers in 2 s', '0 ticks', `${ticks() - before} ticks`, ticks() === before)
  const script = `import { DatabaseSync } from '${resolve('node_modules/@photostructure/sqlite/dist/index.mjs')}'
    const db = new DatabaseSync(${JSON.stringify(join(home('many'), 'holdfast.db'))}); db.exec('PRAGMA busy_timeout=5000; BEGIN');
    const run = db.prepare("SELECT * FROM run WHERE session='live-0'").get();
    for (let i = 0; i < 10000; i++) { db.prepare('INSERT INTO session (id, epoch, dir, argv, created_at) VALUES (?,1,?,?,?)').run('old-'+i, run.dir, run.argv, run.started_at);
      db.prepare("INSERT INTO run (id,session,epoch,state,place,launcher,keeper,cookie,argv,dir,detached,until,independent,host,user,started_at,ended_at,reason,evidence,ended_by,exit) VALUES (?,?,1,'completed',?,?,?,?,?,?,1,'harness',0,'h','u',?,?,'exit code 0','[]','keeper','{\\"code\\":0,\\"signal\\":null}')").run('r'+String(i).padStart(12,'0'), 'old-'+i, run.place, run.launcher, run.keeper, 'c', run.argv, run.dir, run.started_at, run.started_at) }
    db.exec('COMMIT'); db.close()`
  execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: resolve('.') })
  const full = together({ node, ls })
  row(
    'ls again, with 10,000 ended sessions in the store',
    '≤ 1.2 × of that',
    `${times(full.ls / full.node / (listed.ls / listed.node))} (${ms(full.ls)})`,
    full.ls / full.node <= 1.2 * (listed.ls / listed.node),
  )

  // Agents that are known, with all that their harnesses keep: `ls` counts what they burn, and they burn between two looks.
  const busy = layAgents(join(root, 'busy'), { projects: 300, rollouts: 500, sessions: 20 })
  const busyEnv = { ...env('agents'), ...busy.env }
  const agents = library.openHoldfast({ home: home('agents'), env: busyEnv })
  for (const [index, argv] of busy.commands.entries()) await agents.start({ session: `agent-${index}`, dir: dir(`agents/${index}`), argv })
  const counted = together({
    node,
    quiet: () => time(HOLDFAST, ['ls', '--json'], { env: busyEnv }),
    burning: () => {
      busy.burn()
      return time(HOLDFAST, ['ls', '--json'], { env: busyEnv })
    },
  })
  const burned = []
  for (const index of busy.commands.keys()) burned.push((await agents.status(`agent-${index}`)).tokens.run.input)
  if (burned.some((input) => input !== rounds * 100)) throw new Error(`counted ${burned} and not ${rounds * 100}`)
  await agents.stop({ references: [], all: true })
  agents.close()
  for (const [what, bound] of [
    ['quiet', 2],
    ['burning', 2.3],
  ])
    row(
      `ls with ${busy.commands.length} live agents (${what}), 300 projects, 500 rollouts`,
      `≤ ${bound} × node -e 0`,
      `${times(counted[what] / counted.node)} (${ms(counted[what])})`,
      counted[what] <= bound * counted.node,
    )

  // 50 siblings, some of which listen, as one of them sees them.
  const peers = library.openHoldfast({ home: home('siblings'), env: env('siblings') })
  const serve = ['node', '-e', "require('node:net').createServer().listen(0, '127.0.0.1')"]
  for (let index = 0; index <= 50; index++)
    await peers.start({ session: `peer-${index}`, dir: dir(`siblings/${index}`), argv: index % 10 === 0 ? serve : ['sleep', '3600'] })
  const seen = () => time(HOLDFAST, ['siblings', '--session', 'peer-1', '--json'], { env: env('siblings') })
  const beside = together({ node, seen })
  await peers.stop({ references: [], all: true, graceMs: 0 })
  peers.close()
  row(
    'siblings(50), OS-verified, with branches and ports',
    '≤ 2 × node -e 0',
    `${times(beside.seen / beside.node)} (${ms(beside.seen)} / ${ms(beside.node)})`,
    beside.seen <= 2 * beside.node,
  )

  // Stop a tree of 51: with a cgroup and without, one that heeds TERM and one that has to be killed.
  const hidden = ['-m', 'sh', '-c', 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', 'sh', HOLDFAST]
  const canHide = process.getuid() === 0
  const stopTree = async (round, contained, deaf) => {
    const tree = `${deaf ? "trap '' TERM; " : ''}for i in $(seq 50); do setsid sleep 3600 & done; echo ready >ready; wait`
    const at = dir(`tree-${contained}-${deaf}-${round}`)
    const argv = ['run', '--session', 'tree', '--dir', at, '--detach', '--', 'sh', '-c', tree]
    execFileSync(contained ? HOLDFAST : 'unshare', contained ? argv : [...hidden, ...argv], { env: env('many'), stdio: 'ignore' })
    for (let tries = 0; tries < 500; tries++) {
      try {
        statSync(join(at, 'ready'))
        break
      } catch {
        await new Promise((next) => setTimeout(next, 10))
      }
    }
    const { run } = await many.status('tree')
    if (contained !== (run.containment.level === 'cgroup')) throw new Error(`contained by ${run.containment.level}`)
    const began = performance.now()
    const [{ end }] = await many.stop({ references: ['tree'], ...(deaf ? { graceMs: 0 } : {}) })
    if (end.ended.length < 51) throw new Error(`only ${end.ended.length} ended`)
    return performance.now() - began
  }
  const { containment } = (await many.list())[0].run
  for (const [contained, target] of [
    [true, 100],
    [false, 500],
  ]) {
    if (contained ? containment.level !== 'cgroup' : !canHide) {
      row(`stop of a 51-process tree ${contained ? 'with' : 'without'} cgroup`, `≤ ${target} ms`, 'cannot be measured here', false)
      continue
    }
    for (const deaf of [false, true]) {
      const stops = []
      for (let round = 0; round < (quick ? 3 : 9); round++) stops.push(await stopTree(round, contained, deaf))
      const how = deaf ? 'all deaf to TERM, no grace' : 'all heed TERM'
      row(
        `stop of a 51-process tree ${contained ? 'with' : 'without'} cgroup, ${how}, in process`,
        `≤ ${target} ms`,
        ms(median(stops)),
        median(stops) <= target,
      )
    }
  }

  // From the agent's death to its durable end: without a daemon, this is a Node start.
  const deaths = []
  for (let round = 0; round < (quick ? 3 : 9); round++) {
    await many.start({ session: 'death', dir: dir('death'), argv: ['sleep', '3600'] })
    const { pid, run } = await many.status('death')
    process.kill(pid, 'SIGKILL')
    for (let done = false; !done; ) {
      const { DatabaseSync } = await import(resolve('node_modules/@photostructure/sqlite/dist/index.mjs'))
      const db = new DatabaseSync(join(home('many'), 'holdfast.db'))
      for (let tries = 0; tries < 2000 && !done; tries++) {
        done = db.prepare('SELECT ended_at FROM run WHERE id = ?').get(run.id).ended_at !== null
        if (done) deaths.push(Date.now() - statSync(join(home('many'), 'runs', run.id, 'exit')).mtimeMs)
        else await new Promise((next) => setTimeout(next, 2))
      }
      db.close()
    }
  }
  row(
    "from the keeper's record to the durable end, no daemon",
    '10 ms with a daemon; ≤ 4 × node -e 0 without',
    `${ms(median(deaths))}, ${times(median(deaths) / launch.node)} node -e 0`,
    median(deaths) <= 4 * launch.node,
  )

  // Adoption: one reconcile over the live sessions.
  const began = performance.now()
  await many.reconcile()
  row(
    `reconcile of ${live} live sessions, in process`,
    '1,000 in ≤ 500 ms',
    ms(performance.now() - began),
    (performance.now() - began) * 10 <= 500 * 2,
  )
  await many.stop({ references: [], all: true })
  many.close()

  // Durable claims: each is one FULL-synchronous transaction, followed by the one that ends the run.
  for (const workers of [1, 4]) {
    const bundle = join(root, 'claims.mjs')
    await build({
      entryPoints: ['test/bench/claims.ts'],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: bundle,
      external: ['@photostructure/sqlite', 'node:sqlite'],
      define: { 'import.meta.url': JSON.stringify(pathToFileURL(resolve('package.json')).href) },
    })
    const path = join(root, `claims${workers}.db`)
    const began = performance.now()
    const each = quick ? 200 : 1000
    const codes = await Promise.all(
      Array.from(
        { length: workers },
        (_, index) =>
          new Promise((done) => spawn(process.execPath, [bundle, path, String(each), String(index)], { stdio: 'inherit' }).once('exit', done)),
      ),
    )
    if (codes.some((code) => code !== 0)) throw new Error(`claims failed: ${codes}`)
    const rate = (workers * each) / ((performance.now() - began - launch.node) / 1000)
    row(
      `durable claims, each with its end, ${workers} process${workers === 1 ? '' : 'es'}`,
      '≥ 1,000/s',
      `${Math.round(rate)}/s claims, ${Math.round(rate * 2)}/s durable writes`,
      rate >= 1000,
    )
  }
} finally {
  for (const name of ['many', 'agents', 'siblings']) spawnSync(HOLDFAST, ['stop', '--all'], { env: env(name) })
  rmSync(root, { recursive: true, force: true })
}

if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 2))
else {
  const width = Math.max(...rows.map(({ what }) => what.length))
  const wide = Math.max(...rows.map(({ target }) => target.length))
  for (const { what, target, value, ok } of rows) console.log(`${ok ? 'ok  ' : 'MISS'} ${what.padEnd(width)}  ${target.padEnd(wide)}  ${value}`)
}
