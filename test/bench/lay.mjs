// Lays many live runs at once, for benches: real processes (a shell as the keeper, `sleep` as the agent, with its marker and its cgroup) and
// their directories; the store is then made from these, as after a loss. To start them one by one would take minutes.

import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const MARKER_BASE = 4_000_000_000_000_000
const LAID_MS = 120_000

/** A line for each: its directory, its cgroup (or -), its marker. They end by themselves after an hour. */
const KEEPERS = `
while read -r dir cgroup marker; do
  (
    read -r stat </proc/self/stat
    set -- $stat
    echo "$1 \${22}" >"$dir/keeper"
    prlimit "--rttime=$marker:" /bin/sh -c '
      if [ "$2" != - ]; then echo 0 >"$2/cgroup.procs" && echo "$2" >"$1/cgroup"; fi
      read -r stat </proc/self/stat
      echo "$stat" >"$1/pid"
      exec sleep 3600' sh "$dir" "$cgroup" &
    wait
  ) &
done
wait
`

/** `holdfast`: a library for the home, with one live run in it that was started by it: the others are made after it. Answers their ids. */
export async function layRuns(home, template, count) {
  const record = JSON.parse(readFileSync(join(home, 'runs', template, 'run.json'), 'utf8'))
  const base = record.containment.level === 'cgroup' ? dirname(record.containment.path) : null
  const stem = base === null ? null : basename(record.containment.path).slice(0, -template.length)
  const laid = Array.from({ length: count }, (_, index) => {
    const id = `r${randomBytes(6).toString('hex')}`
    const path = base === null ? null : join(base, `${stem}${id}`)
    return { id, index, path, marker: MARKER_BASE + randomBytes(6).readUIntBE(0, 6), folder: join(home, 'runs', id) }
  })
  for (const { folder, path } of laid) {
    mkdirSync(folder, { mode: 0o700 })
    for (const name of ['exit', 'tombstone']) cpSync(join(home, 'runs', template, name), join(folder, name))
    if (path !== null) mkdirSync(path)
  }
  const lines = laid.map(({ folder, path, marker }) => `${folder} ${path ?? '-'} ${marker}\n`).join('')
  const keepers = spawn('/bin/sh', ['-c', KEEPERS], { stdio: ['pipe', 'ignore', 'inherit'], cwd: '/' })
  keepers.stdin.end(lines)
  const until = performance.now() + LAID_MS
  for (const { folder } of laid)
    while (!existsSync(join(folder, 'pid')) || readFileSync(join(folder, 'pid'), 'latin1').trim() === '') {
      if (performance.now() > until) throw new Error(`laying ${count} runs took more than ${LAID_MS / 1000} s`)
      await new Promise((next) => setTimeout(next, 20))
    }
  for (const { id, index, path, marker, folder } of laid) {
    const dir = join(dirname(home), 'laid', String(index))
    mkdirSync(dir, { recursive: true })
    const containment = path === null ? record.containment : { level: 'cgroup', path }
    const [pid, ticks] = readFileSync(join(folder, 'keeper'), 'latin1').split(' ').map(Number)
    const own = { id, session: `laid-${index}`, epoch: 1, marker, cookie: randomUUID(), dir, containment, keeper: { pid, ticks } }
    writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...record, ...own }))
  }
  for (const name of readdirSync(home)) if (name.startsWith('holdfast.db')) rmSync(join(home, name))
  return laid
}
