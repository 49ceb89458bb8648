// One pass over the process table, ours beside `ps` and `lsof`, among 300, 3,000 and 30,000 processes.
// `node test/bench/passes.mjs [--quick]` prints a table. Every figure is a median, but for our first pass, which is also shown.
// Ours is timed inside a running Node, as Holdfast does it; ps and lsof are timed with their own start, writing to /dev/null.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { freemem } from 'node:os'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const quick = process.argv.includes('--quick')
const SIZES = quick ? [300, 3000] : [300, 3000, 30_000]
const ROUNDS = quick ? 3 : 5
const LIMIT_S = 180
const NEEDS_GB = { 30000: 6 }
const OUTPUT_BYTES = 64 * 1024 * 1024
const COULD_NOT_FORK = 75
const THEIRS = {
  ps: { argv: ['-eo', 'pid,ppid,pgid,sid,uid,lstart,args'], of: 'procps', line: /^ *\d/gm },
  lsof: { argv: ['-d', 'cwd', '-Fpn'], of: 'lsof', line: /^p\d/gm },
}
/** The first process of the namespace: all others are its children, and end with it, or by themselves at the limit. */
const FORKER = `
my ($count, $limit) = splice @ARGV, 0, 2;
for (1 .. $count) {
  my $child = fork;
  if (!defined $child) { print STDERR "fork $_ of $count: $!"; exit ${COULD_NOT_FORK} }
  if (!$child) { sleep $limit; exit 0 }
}
system @ARGV;
exit($? & 127 ? 1 : $? >> 8);
`

if (process.argv[2] === '--inside') console.log(JSON.stringify(await inside(Number(process.argv[3]), Number(process.argv[4]))))
else print(await outside())

async function outside() {
  const { outputFiles } = await build({ entryPoints: ['src/observe/index.ts'], bundle: true, platform: 'node', format: 'esm', write: false })
  return SIZES.flatMap((size) => {
    const measured = measure(size, outputFiles[0].text)
    return typeof measured === 'string' ? [[count(size), `not measured: ${measured}`]] : measured.ours.map((pass) => row(size, pass, measured.theirs))
  })
}

/** The figures, or why there are none. */
function measure(size, bundle) {
  const freeGb = freemem() / 2 ** 30
  if (freeGb < (NEEDS_GB[size] ?? 0)) return `${freeGb.toFixed(1)} GB of memory are free, and it takes up to ${NEEDS_GB[size]}`
  const alone = ['unshare', ...(process.getuid() === 0 ? [] : ['-U', '-r']), '-pf', '--mount-proc', '--kill-child']
  const within = [process.execPath, fileURLToPath(import.meta.url), '--inside', String(size), String(ROUNDS)]
  const { status, signal, stdout, stderr, error } = spawnSync(
    'timeout',
    ['--foreground', '-s', 'KILL', String(LIMIT_S), ...alone, 'perl', '-e', FORKER, String(size), String(LIMIT_S), ...within],
    { input: bundle, encoding: 'utf8' },
  )
  if (status === COULD_NOT_FORK) return stderr
  if (status !== 0)
    throw new Error(`measuring among ${size} processes: ${stderr || (error?.message ?? signal ?? `code ${status}, limit ${LIMIT_S} s`)}`)
  return JSON.parse(stdout)
}

async function inside(size, rounds) {
  const { linuxProcesses, readPlace } = await import(`data:text/javascript,${encodeURIComponent(readFileSync(0, 'utf8'))}`)
  const processes = linuxProcesses(readPlace('bench'))
  const pass = (look) => () => {
    const began = performance.now()
    const { rows, blind } = processes.table(look)
    const took = performance.now() - began
    if (blind !== null || rows.length < size) throw new Error(`our pass saw ${rows.length} of ${size}; blind: ${blind}`)
    return took
  }
  const plain = pass({ since: 0, cookies: false })
  const first = { plain: plain() }
  const children = processes.table({ since: 0, cookies: false }).rows.filter(({ parent }) => parent === 1)
  const since = children.reduce((least, { ticks }) => Math.min(least, ticks), Number.POSITIVE_INFINITY)
  const cookies = pass({ since, cookies: true })
  first.cookies = cookies()
  const theirs = Object.keys(THEIRS).filter((name) => sees(name, size))
  const median = together({ plain, cookies, ...Object.fromEntries(theirs.map((name) => [name, () => time(name)])) }, rounds)
  return {
    ours: [
      { what: 'table', first: first.plain, median: median.plain },
      { what: 'table with cookies', first: first.cookies, median: median.cookies },
    ],
    theirs: Object.fromEntries(theirs.map((name) => [name, median[name]])),
  }
}

/** Whether it is installed; and if so, it has to see as many as we do, or the comparison is worth nothing. */
function sees(name, size) {
  const { error, stdout, stderr } = spawnSync(name, THEIRS[name].argv, { encoding: 'utf8', maxBuffer: OUTPUT_BYTES })
  if (error?.code === 'ENOENT') return false
  if (error) throw error
  const seen = stdout.match(THEIRS[name].line)?.length ?? 0
  if (seen < size) throw new Error(`${name} saw ${seen} of ${size}: ${stderr}`)
  return true
}

function time(name) {
  const began = performance.now()
  const { status } = spawnSync(name, THEIRS[name].argv, { stdio: 'ignore' })
  const took = performance.now() - began
  if (status !== 0) throw new Error(`${name} ended with code ${status}`)
  return took
}

/** Candidates take turns, so that noise hits all alike. */
function together(candidates, rounds) {
  const times = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) for (const [name, run] of Object.entries(candidates)) times[name].push(run())
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]]))
}

function row(size, ours, theirs) {
  const names = Object.keys(THEIRS)
  const cells = names.flatMap((name) =>
    name in theirs ? [ms(theirs[name]), `${(ours.median / theirs[name]).toFixed(2)} ×`] : [`not installed (apt-get install ${THEIRS[name].of})`, '–'],
  )
  return [
    count(size),
    ours.what,
    ms(ours.first),
    ms(ours.median),
    ...cells,
    verdict(
      names.map((name) => theirs[name] ?? null),
      ours.median,
    ),
  ]
}

/** Faster than one that was not measured is unknown. */
function verdict(theirs, ours) {
  if (theirs.some((other) => other !== null && other <= ours)) return 'MISS'
  return theirs.includes(null) ? '?' : 'ok'
}

function print(rows) {
  const table = [
    ['processes', 'our pass', 'first', 'ours', ...Object.keys(THEIRS).flatMap((name) => [name, `ours/${name}`]), 'faster than both'],
    ...rows,
  ]
  const full = table.filter(({ length }) => length === table[0].length)
  const widths = table[0].map((_, column) => Math.max(...full.map((cells) => cells[column].length)))
  for (const cells of table)
    console.log(cells.map((cell, column) => (column === 1 ? cell.padEnd(widths[1]) : cell.padStart(widths[column]))).join('  '))
}

function count(number) {
  return number.toLocaleString('en')
}

function ms(number) {
  return `${number.toFixed(1)} ms`
}
