import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { againstOrder, cycles, edgesWithoutPort, opensPastLib, pastGit, pastPorts, starExports, waitsAtPipe } from './guards.ts'
import { scripts, sourceOf, sources } from './sources.ts'

const all = sources()

test('no file imports itself through others when the program runs', () => {
  expect(cycles(all, 'value')).toEqual([])
})

test('no file imports itself through others, types included', () => {
  expect(cycles(all, 'any')).toEqual([])
})

test('sub-rooms of app import only those before them', () => {
  expect(againstOrder(all)).toEqual([])
})

test('exports are listed by name', () => {
  expect(starExports(all)).toEqual([])
})

test('use cases reach the machine through ports', () => {
  expect(pastPorts(all)).toEqual([])
})

test('use cases that call an edge without a port only get fewer', () => {
  expect(edgesWithoutPort(all)).toEqual([])
})

test('git is started for looking and for acting, and nowhere else', () => {
  expect(Object.keys(scripts())).toContain('keep/scripts/keeper.sh')
  expect(pastGit(all, scripts())).toEqual([])
})

test('files that others can touch are opened in one way only', () => {
  expect(opensPastLib(all)).toEqual([])
})

test('scripts look before they open a file of a run directory, or open it so that a pipe does not keep them', () => {
  const names = readdirSync('src/keep/scripts').filter((name) => name.endsWith('.sh'))
  expect(names.flatMap((name) => waitsAtPipe(readFileSync(`src/keep/scripts/${name}`, 'utf8')).map((line) => `${name}: ${line}`))).toEqual([])
})

// Each guard sees a broken example: a guard that finds nothing anywhere proves nothing.
test('a value cycle is found, and a cycle of types only as one of types', () => {
  const value = [sourceOf('a/x.ts', "import { y } from './y.ts'"), sourceOf('a/y.ts', "export { x } from './x.ts'")]
  expect(cycles(value, 'value')).toEqual([['a/x.ts', 'a/y.ts']])
  const types = [sourceOf('a/x.ts', "import type { Y } from './y.ts'"), sourceOf('a/y.ts', "import {\n  type X,\n  type Z,\n} from './x.ts'")]
  expect(cycles(types, 'value')).toEqual([])
  expect(cycles(types, 'any')).toEqual([['a/x.ts', 'a/y.ts']])
  const through = ['b', 'c', 'a'].map((to, index) => sourceOf(`r/${'abc'[index]}.ts`, `import { type T, f } from '../r/${to}.ts'`))
  expect(cycles(through, 'value')).toEqual([['r/a.ts', 'r/b.ts', 'r/c.ts']])
})

test('an import against the order is found, as a value and as a type', () => {
  const order = ['world', 'start', 'end']
  const up = sourceOf('app/world/home.ts', "import type { Plan } from '../start/plan.ts'")
  expect(againstOrder([up], order)).toEqual(['app/world/home.ts imports app/start/plan.ts, which comes later in the order'])
  expect(againstOrder([sourceOf('app/end/stop.ts', "import { start } from '../start/start.ts'")], order)).toEqual([])
  expect(againstOrder([sourceOf('app/stop.ts', '')], order)).toEqual(['app/stop.ts is in no sub-room'])
  expect(againstOrder([sourceOf('app/end/stop.ts', "import { start } from '../index.ts'")], order)).toHaveLength(1)
})

test('a star export is found', () => {
  expect(starExports([sourceOf('a/index.ts', "export { x } from './x.ts'\nexport * from './y.ts'")])).toEqual(['a/index.ts'])
  expect(starExports([sourceOf('a/index.ts', "export type * from './y.ts'")])).toEqual(['a/index.ts'])
})

test('a use case that goes past its ports is found', () => {
  const broken = (text: string): string[] => pastPorts([sourceOf('app/end/stop.ts', text)])
  expect(broken("import { readFileSync } from 'node:fs'")).toHaveLength(1)
  expect(broken("import { findDirectory } from '../../observe/index.ts'")).toHaveLength(1)
  for (const code of ['process.geteuid?.()', 'process.kill(pid)', 'process.pid', 'process.platform'])
    expect(broken(`x(${code})`), code).toHaveLength(1)
  expect(broken('record.process.pid')).toEqual([])
  expect(broken("import type { Mount } from '../../observe/index.ts'")).toEqual([])
  expect(pastPorts([sourceOf('app/compose/home.ts', "import { statSync } from 'node:fs'")])).toEqual([])
})

test('a new call of an edge without a port is found, and an entry that is not needed any more', () => {
  const one = sourceOf('app/end/stop.ts', "import { quote } from '../../keep/index.ts'\nimport type { Alone } from '../../record/index.ts'")
  expect(edgesWithoutPort([one], {})).toEqual(['app/end/stop.ts calls keep without a port'])
  expect(edgesWithoutPort([one], { 'app/end/stop.ts': ['keep', 'record'] })).toEqual(['app/end/stop.ts no longer calls record: take it off the list'])
})

test('a call of git past the two places is found', () => {
  const broken = (path: string, text: string): string[] => pastGit([sourceOf(path, text)])
  expect(broken('observe/x.ts', "execFileSync('git', ['status'])")).toEqual(['observe/x.ts names git as a program'])
  expect(broken('observe/x.ts', 'spawn("/usr/bin/git", args)')).toHaveLength(1)
  expect(broken('keep/worktree/x.ts', "import { runGit } from './git.ts'")).toEqual(['keep/worktree/x.ts calls runGit'])
  expect(broken('keep/worktree/looking.ts', "import { runGit } from './git.ts'")).toEqual([])
  expect(broken('keep/worktree/x.ts', "import { linesOf } from './git.ts'\nconst a = join(x, '.git')")).toEqual([])
  expect(pastGit([], { 'a.sh': '# git status\nx=$(git status)\n', 'b.sh': '# git status\necho digit x\n' })).toEqual(['a.sh calls git'])
})

test('a file that is opened past the one way is found, and an entry that is not needed any more', () => {
  const found = (text: string): string[] => opensPastLib([sourceOf('keep/x.ts', text)], {})
  for (const name of ['readFileSync', 'openSync', 'writeFileSync', 'appendFileSync', 'createReadStream', 'copyFileSync', 'truncateSync', 'open'])
    expect(found(`import { lstatSync, ${name} } from 'node:fs'`), name).toHaveLength(1)
  for (const text of [
    "import fs from 'node:fs'",
    "import * as fs from 'fs'",
    "import { readFile } from 'node:fs/promises'",
    "const { openSync } = require('node:fs')",
  ])
    expect(found(text), text).toHaveLength(1)
  for (const text of [
    "import { lstatSync, readdirSync } from 'node:fs'",
    "import { readFile, openFile } from '../lib/index.ts'",
    "import { readdir } from 'node:fs/promises'",
  ])
    expect(found(text), text).toEqual([])
  expect(opensPastLib([], { 'lib/file.ts': 'x' })).toEqual(['lib/file.ts opens nothing any more: take it off the list'])
})

test('a script that may wait at a pipe is found', () => {
  for (const line of ['echo 1 >"$hf_dir/exit"', 'echo 1 >>"$hf_dir/log"', 'read -r x <"$hf_dir/cgroup"'])
    expect(waitsAtPipe(line), line).toEqual([line])
  for (const line of ['echo 1 1<>"$hf_dir/exit"', '# >"$hf_dir/exit"', 'if [ -f "$hf_dir/x" ]; then read -r x <"$hf_dir/x"; fi'])
    expect(waitsAtPipe(line), line).toEqual([])
})
