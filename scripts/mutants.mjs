// Changes the product in one small place at a time, and runs the tests that must turn red. `npm run mutants [-- WORD]`: those whose promise or file has the word.
// Each is tried in a copy of the sources. Exit code 1: a change survived its tests, or its place is not there any more.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const LIMIT_MS = 240_000
const word = process.argv[2] ?? ''
const all = JSON.parse(readFileSync('test/mutants/mutants.json', 'utf8')).filter(({ promise, file }) => `${promise} ${file}`.includes(word))
const root = mkdtempSync(join(tmpdir(), 'hf-mutants-'))
process.once('exit', () => rmSync(root, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))

for (const path of execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0').filter(Boolean)) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  cpSync(path, join(root, path), { verbatimSymlinks: true })
}
for (const folder of ['node_modules', 'dist']) symlinkSync(resolve(folder), join(root, folder))

const isRed = (tests) => {
  const run = spawnSync('node_modules/.bin/vitest', ['run', '--project', 'fast', '--bail', '1', ...tests], {
    cwd: root,
    timeout: LIMIT_MS,
    encoding: 'utf8',
  })
  return run.error === undefined && run.status === 0 ? null : 'red'
}
const survivors = []
for (const [at, { promise, what, file, find, put, tests }] of all.entries()) {
  const path = join(root, file)
  const text = readFileSync(path, 'utf8')
  const places = text.split(find).length - 1
  let came = places === 1 ? null : `its place is there ${places} times`
  if (came === null) {
    writeFileSync(
      path,
      text.replace(find, () => put),
    )
    came = isRed(tests) === null ? 'survived' : null
    writeFileSync(path, text)
  }
  if (came !== null) survivors.push(`${promise}: ${what} (${file})`)
  console.log(`${at + 1}/${all.length} ${came ?? 'caught'}: ${promise}: ${what}`)
}
console.log(survivors.length === 0 ? `all ${all.length} are caught` : `not caught:\n${survivors.join('\n')}`)
process.exitCode = survivors.length === 0 ? 0 : 1
