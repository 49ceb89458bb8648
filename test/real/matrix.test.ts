import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { verifies } from '../requirements.ts'
import { cleanEnvironment, readOr, removeCgroups, unable } from './lab.ts'

const isRoot = process.getuid?.() === 0
const NOBODY = 65534
const CGROUPS = existsSync('/sys/fs/cgroup/unified/cgroup.procs') ? '/sys/fs/cgroup/unified' : '/sys/fs/cgroup'
const MANAGER = resolve('test/matrix/manager.sh')
const ALONE = ['unshare', '-pf', '-m', '--mount-proc', '--kill-child']
const AS_NOBODY = ['setpriv', '--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups']
const DELEGATED = join(CGROUPS, `hf-matrix-${process.pid}`)

/** Each level: what the record must say of it, and what to put before the command. */
type Level = { readonly name: string; readonly says: string; readonly before: readonly string[]; readonly uid: number }
const levels: readonly Level[] = [
  { name: 'root, cgroup', says: 'cgroup:true', before: ALONE, uid: 0 },
  { name: 'root, none', says: 'none:false', before: [...ALONE, 'sh', '-c', 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', 'sh'], uid: 0 },
  {
    name: 'user, delegated',
    says: 'cgroup:true',
    before: [...ALONE, 'sh', '-c', `echo 0 >${DELEGATED}/cgroup.procs && exec "$@"`, 'sh', ...AS_NOBODY],
    uid: NOBODY,
  },
  { name: 'user, scope', says: 'scope:true', before: ['bash', MANAGER, String(NOBODY)], uid: NOBODY },
  { name: 'user, none', says: 'none:false', before: [...ALONE, ...AS_NOBODY], uid: NOBODY },
]

/** Ways that leave nothing but the secret of the run. */
const NAMED: readonly string[] = ['helper-marker', 'other-marker', 'no-marker']

/** A copy that every user may read, wherever this clone lies. */
let root = ''
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'hf-matrix-'))
  chmodSync(root, 0o755)
  for (const part of ['bin', 'dist', 'package.json', 'node_modules/@photostructure', 'node_modules/node-gyp-build'])
    if (existsSync(part)) cpSync(part, join(root, 'holdfast', part), { recursive: true })
  cpSync('test/matrix/escapes.sh', join(root, 'holdfast', 'escapes.sh'))
  spawnSync('chmod', ['-R', 'a+rX', join(root, 'holdfast')])
  if (!isRoot) return
  mkdirSync(DELEGATED)
  for (const file of ['', 'cgroup.procs', 'cgroup.threads', 'cgroup.subtree_control']) chownSync(join(DELEGATED, file), NOBODY, NOBODY)
})

const results = new Map<string, Map<string, string>>()
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
  if (isRoot) rmdirSync(DELEGATED)
  const ways = [...new Set([...results.values()].flatMap((cells) => [...cells.keys()]))]
  const table = [['survivors / started', ...ways], ...[...results].map(([level, cells]) => [level, ...ways.map((way) => cells.get(way) ?? '-')])]
  const widths = table[0]?.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0))) ?? []
  console.log(`\n${table.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n')}\n`)
})

for (const { name, says, before, uid } of levels) {
  verifies('stop-proof', `escape matrix, ${name}: nobody survives without a word, however they left`, () => {
    if (!isRoot) return unable(`the level "${name}" needs root to be set up`)
    if (!existsSync(join(CGROUPS, 'cgroup.procs'))) return unable('there is no cgroup v2 here')
    const work = mkdtempSync(join(root, 'work-'))
    chownSync(work, uid, uid)
    chmodSync(work, 0o700)
    const [program = '', ...argv] = [...before, 'bash', join(root, 'holdfast', 'escapes.sh'), join(root, 'holdfast', 'bin', 'holdfast'), work]
    const { stdout, stderr } = spawnSync(program, argv, { env: cleanEnvironment(), encoding: 'utf8', timeout: 120_000, cwd: '/' })
    removeCgroups(readOr(join(work, 'home', 'install')).trim())
    const cells = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
    results.set(
      name,
      new Map(cells.map(([, way = '', started, survivors, named]) => [way, `${survivors}/${started}${named === '0' ? '' : ` (${named} named)`}`])),
    )
    expect(cells, stderr).toHaveLength(14)
    expect(stderr).toBe('')
    for (const [level, way = '', started, survivors, named] of cells) {
      // With a cgroup nobody survives. Without one, a process that shed its marker and its parents, and has only the run's secret, is named.
      expect([level, way, survivors]).toEqual([says, way, says.endsWith(':true') || !NAMED.includes(way) ? '0' : '1'])
      expect(named, way).toBe(survivors)
      expect(Number(started), way).toBeGreaterThanOrEqual(2)
    }
  })
}
