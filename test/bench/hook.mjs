// The prompt hook beyond `node -e 0`: processor time, wall time and modules run, alone, with 3 sessions near and with 100 elsewhere.
// `node test/bench/hook.mjs [--against DIST] [--rounds N] [--far N]` measures dist/, and another build beside it in turns.

import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'

const option = (name, fallback) => {
  const at = process.argv.indexOf(name)
  return at < 0 ? fallback : process.argv[at + 1]
}
const ROUNDS = Number(option('--rounds', 30))
const NEAR = 3
const FAR = Number(option('--far', 100))
const NATIVE = randomUUID()
const builds = { now: resolve('dist'), ...(option('--against') ? { against: resolve(option('--against')) } : {}) }

const root = mkdtempSync(join(tmpdir(), 'hf-hook-bench-'))
const folder = (name) => {
  mkdirSync(join(root, name), { recursive: true })
  return join(root, name)
}
const quantile = (numbers, part) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * part)]
const median = (numbers) => quantile(numbers, 0.5)
/** Less noisy than the median where others keep the machine busy. */
const quiet = (numbers) => quantile(numbers, 0.25)

const bin = folder('bin')
writeFileSync(join(bin, 'claude'), '#!/bin/sh\nexec sleep 3600\n')
chmodSync(join(bin, 'claude'), 0o755)
const outside = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_') && name !== 'NODE_OPTIONS'))
const env = { ...outside, PATH: `${bin}:${process.env.PATH}`, HOME: folder('user'), CLAUDE_CONFIG_DIR: folder('user/.claude') }
const payload = join(root, 'payload')
writeFileSync(payload, JSON.stringify({ session_id: NATIVE, hook_event_name: 'UserPromptSubmit', prompt: 'fix the parser' }))

/** Wall time, and the processor time of all children, of one command line. */
function measure(line, environment, input = '/dev/null') {
  const began = performance.now()
  const { status, stdout } = spawnSync('bash', ['-c', `(${line}) <"$0" >/dev/null; times`, input], { env: environment, encoding: 'utf8' })
  const wall = performance.now() - began
  if (status !== 0) throw new Error(`${line}: ${status}`)
  const spent = stdout.trim().split('\n').at(-1).split(' ')
  const cpu = spent.reduce((sum, part) => sum + Number(part.split('m')[0]) * 60_000 + Number.parseFloat(part.split('m')[1]) * 1000, 0)
  return { wall, cpu }
}

/** The modules of the bundle that Node loaded in which a function ran. Only the bundles for tests name their modules. */
function modulesRun(release, environment) {
  const dist = join(release, 'test', 'dist')
  const coverage = folder(`coverage-${randomUUID()}`)
  spawnSync('sh', [join(dist, 'hook.sh'), 'claude', 'prompt'], { env: { ...environment, NODE_V8_COVERAGE: coverage }, input: readFileSync(payload) })
  const results = readdirSync(coverage).flatMap((name) => JSON.parse(readFileSync(join(coverage, name), 'utf8')).result)
  const { url, functions } = results.find((one) => one.url.startsWith(`file://${dist}/`))
  const text = readFileSync(new URL(url), 'utf8')
  const starts = [...text.matchAll(/^ *\/\/ (src\/\S+\.ts|node_modules\/\S+)$/gm)].map((match) => ({ at: match.index, name: match[1] }))
  const ran = new Set()
  for (const { ranges } of functions) {
    const [{ startOffset, count }] = ranges
    const module = count > 0 && startOffset > 0 ? starts.findLast(({ at }) => at <= startOffset) : undefined
    if (module !== undefined) ran.add(module.name)
  }
  return { ran: [...ran].toSorted(), all: new Set(starts.map(({ name }) => name)).size, kb: Math.round(text.length / 1024) }
}

const { openHoldfast } = await import(resolve('dist/library.js'))
const rows = []
try {
  for (const [name, near, far] of [
    ['alone', 0, 0],
    [`${NEAR} near`, NEAR, 0],
    [`${FAR} elsewhere`, 0, FAR],
  ]) {
    const home = join(root, `home-${near}-${far}`)
    const world = openHoldfast({ home, env })
    // Agents work in repositories; the others are in none, which takes the longest to tell.
    const dir = folder(`work-${near}-${far}`)
    spawnSync('git', ['init', '--quiet', dir])
    try {
      const started = await world.start({ session: 'me', dir, argv: ['claude', '--session-id', NATIVE] })
      for (let index = 0; index < near; index++) await world.start({ session: `near-${index}`, dir, share: true, argv: ['sleep', '3600'] })
      for (let index = 0; index < far; index++) await world.start({ session: `far-${index}`, dir: folder(`far/${index}`), argv: ['sleep', '3600'] })
      const run = started.run ?? (await world.status('me')).run
      const runDir = join(home, 'runs', run.id)
      const inside = {
        ...env,
        HOLDFAST_HOME: home,
        HOLDFAST_SESSION: 'me',
        HOLDFAST_RUN: run.id,
        HOLDFAST_EPOCH: String(run.epoch),
        HOLDFAST_FENCE: join(runDir, 'retired'),
        HOLDFAST_NODE: process.execPath,
      }
      const candidates = {
        node: ['node -e 0', env],
        ...Object.fromEntries(Object.entries(builds).map(([build, dist]) => [build, [`sh '${dist}/hook.sh' claude prompt`, inside]])),
      }
      const times = Object.fromEntries(Object.keys(candidates).map((key) => [key, { wall: [], cpu: [] }]))
      for (let round = -2; round < ROUNDS; round++)
        for (const [key, [line, environment]] of Object.entries(candidates)) {
          const { wall, cpu } = measure(line, environment, payload)
          if (round < 0) continue
          times[key].wall.push(wall)
          times[key].cpu.push(cpu)
        }
      const told = readdirSync(runDir).filter((file) => file.startsWith('aware.'))
      if (told.length === 0) throw new Error('the hook did not tell anything')
      for (const [build, dist] of Object.entries(builds)) {
        const { ran, all, kb } = modulesRun(dist, inside)
        const beyond = (what, of) => of(times[build][what]) - of(times.node[what])
        const numbers = { wall: beyond('wall', median), cpu: beyond('cpu', median), quietWall: beyond('wall', quiet), quietCpu: beyond('cpu', quiet) }
        const node = { wall: median(times.node.wall), cpu: median(times.node.cpu) }
        rows.push({ name, build, ...numbers, node, modules: ran.length, all, kb, ran })
      }
    } finally {
      await world.stop({ references: [], all: true, graceMs: 0 })
      world.close()
    }
  }
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 5 })
}

const ms = (number) => number.toFixed(1)
if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 1))
else
  for (const { name, build, wall, cpu, quietWall, quietCpu, node, modules, all, kb } of rows)
    console.log(
      `${name.padEnd(14)} ${build.padEnd(8)} beyond node -e 0 (${ms(node.wall)} ms, cpu ${ms(node.cpu)}): wall ${ms(wall)} (quarter ${ms(quietWall)}), cpu ${ms(cpu)} (${ms(quietCpu)}); ${modules} of ${all} modules run, ${kb} KB`,
    )
