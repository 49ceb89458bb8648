// The daemon (design §11): adopting 1,000 live runs, what it costs when nothing happens, and how soon a death is on record.
// `node test/bench/daemon.mjs [--quick]` prints a table. All of it happens in a pid namespace of its own, so that nothing outlives it, whatever
// fails; the cgroups that are left then are removed by the name of the install.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { layRuns } from './lay.mjs'

const quick = process.argv.includes('--quick')
const RUNS = quick ? 200 : 1000
const ROUNDS = quick ? 3 : 5
const IDLE_S = quick ? 10 : 30
const DEATHS = quick ? 5 : 15
const LIMIT_S = 400
const HOLDFAST = resolve('bin/holdfast')

function outside() {
  const root = mkdtempSync(join(tmpdir(), 'hf-bench-daemon-'))
  const alone = ['unshare', ...(process.getuid() === 0 ? [] : ['-U', '-r']), '-pf', '--mount-proc', '--kill-child']
  // The shell is the first process of the namespace: it reaps whom nobody waits for.
  const script = '"$@"; code=$?; exit $code'
  const within = [process.execPath, fileURLToPath(import.meta.url), '--inside', root, ...(quick ? ['--quick'] : [])]
  try {
    const { status } = spawnSync('timeout', ['--foreground', '-s', 'KILL', String(LIMIT_S), ...alone, 'bash', '-c', script, 'bash', ...within], {
      stdio: 'inherit',
    })
    process.exitCode = status ?? 1
  } finally {
    for (const name of readdirSync(root)) removeCgroups(join(root, name, 'home', 'install'))
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  }
}

function removeCgroups(install) {
  if (!existsSync(install)) return
  const stem = `holdfast-${readFileSync(install, 'utf8').trim().replaceAll('-', '').slice(0, 12)}-`
  for (const place of ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'].filter((path) => existsSync(path)))
    for (const name of readdirSync(place).filter((one) => one.startsWith(stem))) rmdirSync(join(place, name))
}

async function inside(root) {
  const { openHoldfast } = await import(resolve('dist/library.js'))
  const rows = []
  const row = (what, target, value, ok) => rows.push({ what, target, value, ok })
  const lab = (name) => {
    const home = join(root, name, 'home')
    mkdirSync(join(root, name, 'work'), { recursive: true })
    const env = { ...Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('HOLDFAST_'))), HOLDFAST_HOME: home }
    return { home, env, work: join(root, name, 'work'), holdfast: openHoldfast({ home, env }) }
  }

  // From a death to its event.
  const deaths = lab('deaths')
  const daemon = startDaemon(deaths)
  await daemon.said(/adopted/)
  for (const [what, target, killKeeper] of [
    ['with its keeper', '', false],
    ['its keeper was killed before, with a cgroup', '≤ 100 ms', true],
  ]) {
    const took = []
    for (let index = 0; index < DEATHS; index++) took.push(await deathOf(deaths, `${killKeeper}-${index}`, killKeeper))
    const p50 = median(took)
    const p90 = took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.9)]
    row(`death of an agent → its event: ${what}`, target, `p50 ${ms(p50)}, p90 ${ms(p90)}`, target === '' || p50 <= 100)
  }
  await daemon.stop()

  // Nothing happens.
  for (const [count, target] of [
    [0, 0.5],
    [100, 2],
  ]) {
    const idle = lab(`idle${count}`)
    if (count > 0) await lay(idle, count - 1)
    const daemon = startDaemon(idle)
    await daemon.said(/adopted/)
    await sleep(3000)
    const [cpu, began] = [cpuMs(daemon.pid), performance.now()]
    await sleep(IDLE_S * 1000)
    const percent = ((cpuMs(daemon.pid) - cpu) / (performance.now() - began)) * 100
    const pss = Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${daemon.pid}/smaps_rollup`, 'latin1'))?.[1]) / 1024
    row(`idle with ${count} live runs: CPU over ${IDLE_S} s`, `≤ ${target} %`, `${percent.toFixed(2)} %`, percent <= target)
    row(`idle with ${count} live runs: memory`, '≤ 80 MB PSS', `${pss.toFixed(1)} MB`, pss <= 80)
    await daemon.stop()
  }

  // Adoption: from the start of the round, and from the start of the process, beside a Node that does nothing.
  const many = lab('many')
  await lay(many, RUNS)
  execFileSync(HOLDFAST, ['ls', '--json'], { env: many.env, maxBuffer: 1e9 })
  const adoptions = []
  for (let round = 0; round < ROUNDS; round++) {
    const node = time(() => spawnSync('node', ['-e', '0']))
    const began = performance.now()
    const daemon = startDaemon(many)
    const [, adopted, ms] = await daemon.said(/adopted (\d+) runs in (\d+) ms/)
    adoptions.push({ node, round: Number(ms), whole: performance.now() - began })
    if (Number(adopted) !== RUNS + 1) throw new Error(`adopted ${adopted} of ${RUNS + 1}`)
    await daemon.stop()
  }
  const middle = (of) => median(adoptions.map(of))
  const ratio = middle(({ round, node }) => round / node)
  row(
    `adopting ${RUNS} live runs: the round`,
    '≤ 500 ms',
    `${ms(middle(({ round }) => round))}, ${ratio.toFixed(1)} × node -e 0`,
    middle(({ round }) => round) <= 500,
  )
  row('… the first time, with every journal to be written', '', ms(adoptions[0].round), true)
  row('… from the start of the process', '', `${ms(middle(({ whole }) => whole))} (node -e 0: ${ms(middle(({ node }) => node))})`, true)

  // All of them have ended meanwhile: whoever asks is answered while they are seen to.
  for (const id of readdirSync(join(many.home, 'runs')))
    for (const name of ['keeper', 'pid']) process.kill(Number.parseInt(readOr(join(many.home, 'runs', id, name)), 10), 'SIGKILL')
  const began = performance.now()
  const { status } = spawnSync(HOLDFAST, ['daemon', 'start'], { env: many.env })
  const answered = performance.now() - began
  await until('all ends', () => liveRuns(many) === 0, 50)
  row(
    `${RUNS} runs that ended meanwhile: daemon start`,
    'answered',
    `${ms(answered)}; all recorded after ${ms(performance.now() - began)}`,
    status === 0,
  )
  spawnSync(HOLDFAST, ['daemon', 'stop'], { env: many.env })
  print(rows)
  process.exit(0)
}

async function lay({ holdfast, home, work }, count) {
  const { run } = await holdfast.start({ session: 'template', dir: work, argv: ['sleep', '3600'] })
  await layRuns(home, run.id, count)
}

/** How many runs the daemon has found live in its last round. */
const liveRuns = ({ env }) => {
  const { stdout } = spawnSync(HOLDFAST, ['daemon', 'status', '--json'], { env, encoding: 'utf8' })
  return JSON.parse(stdout).parts.find(({ name }) => name === 'reconcile')?.counts.runs ?? null
}

function startDaemon({ home, env }) {
  const child = spawn(resolve('bin/holdfast'), ['daemon', 'run', '--home', home], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let text = ''
  child.stderr.on('data', (chunk) => {
    text += chunk
  })
  const exited = new Promise((done) => child.once('exit', done))
  return {
    pid: child.pid,
    said: (pattern) => until(`the daemon to say ${pattern}`, () => pattern.exec(text)),
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** Kills an agent, and answers how long it took until its end could be read in the events. (Whoever asks for all of them looks himself.) */
async function deathOf({ holdfast, work, home }, name, killKeeper) {
  mkdirSync(join(work, name))
  const { run } = await holdfast.start({ session: name, dir: join(work, name), argv: ['sleep', '3600'] })
  const pid = await until('its pid', () => Number.parseInt(readOr(join(home, 'runs', run.id, 'pid')), 10) || null)
  if (killKeeper) {
    const keeper = Number.parseInt(readOr(join(home, 'runs', run.id, 'keeper')), 10)
    process.kill(keeper, 'SIGKILL')
    await until('its keeper to be gone', () => !existsSync(`/proc/${keeper}`) || / Z /.test(readOr(`/proc/${keeper}/stat`)))
  }
  // What happens right before is not what is measured.
  await sleep(400)
  const began = performance.now()
  process.kill(pid, 'SIGKILL')
  await until('its end', async () => (await holdfast.events(name, 1)).some(({ kind }) => kind === 'ended') || null, 2)
  return performance.now() - began
}

async function until(what, look, everyMs = 5, limitMs = 60_000) {
  const end = performance.now() + limitMs
  for (;;) {
    const seen = await look()
    if (seen) return seen
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`)
    await sleep(everyMs)
  }
}

const cpuMs = (pid) => {
  const fields = readOr(`/proc/${pid}/stat`).split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
function readOr(path) {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
const sleep = (ms) => new Promise((next) => setTimeout(next, ms))
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
function time(run) {
  const began = performance.now()
  run()
  return performance.now() - began
}
function ms(number) {
  return `${number.toFixed(0)} ms`
}
function print(rows) {
  const width = (key) => Math.max(...rows.map((one) => one[key].length))
  for (const { what, target, value, ok } of rows)
    console.log(`${ok ? 'ok  ' : 'MISS'}  ${what.padEnd(width('what'))}  ${target.padEnd(width('target'))}  ${value}`)
}

if (process.argv[2] === '--inside') await inside(process.argv[3])
else outside()
