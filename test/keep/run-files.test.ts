import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runFiles } from '../../src/keep/index.ts'
import { quote } from '../../src/keep/keeper/shell.ts'
import type { Intent, RunRecord } from '../../src/model/index.ts'
import { aRun } from '../record/examples.ts'
import { verifies } from '../requirements.ts'

const home = mkdtempSync(join(tmpdir(), 'hf-files-'))
mkdirSync(join(home, 'runs'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
const files = runFiles(home)
let serial = 0
function created(): RunRecord {
  serial++
  const record: RunRecord = { ...aRun('s'), id: `r${serial.toString(16).padStart(12, 'a')}`, keeper: null }
  files.runRecords.create(record)
  return record
}

test('a run can be read back from its directory alone', () => {
  const record = created()
  expect(files.runRecords.read(record.id)).toEqual(record)
  files.runRecords.recordKeeper(record.id, { pid: 300, ticks: 4000 })
  expect(files.runRecords.read(record.id)).toEqual({ ...record, keeper: { pid: 300, ticks: 4000 } })
  expect(files.runRecords.list()).toContain(record.id)
  files.runRecords.remove(record.id)
  expect(files.runRecords.read(record.id)).toBeNull()
})

test('a record without a budget in dollars is of an older release, and has none', () => {
  const { budgetCost, ...older } = created()
  const path = join(files.runRecords.path(older.id), 'run.json')
  const write = (more: object): void => writeFileSync(path, JSON.stringify({ format: 1, ...older, ...more }))
  write({})
  expect(files.runRecords.read(older.id)).toEqual({ ...older, budgetCost })
  write({ budgetCost: 0.5 })
  expect(files.runRecords.read(older.id)).toMatchObject({ budgetCost: 0.5 })
  write({ budgetCost: '$2' })
  expect(files.runRecords.read(older.id)).toBeNull()
})

test('a directory of another format, or damaged, is not read', () => {
  for (const text of ['{', '{"format":2}', '{"format":1,"id":"other"}', '']) {
    const { id } = created()
    writeFileSync(join(files.runRecords.path(id), 'run.json'), text)
    expect(files.runRecords.read(id), text).toBeNull()
  }
})

verifies('evidence', 'only a whole exit record is evidence', () => {
  const { id } = created()
  const path = join(files.runRecords.path(id), 'exit')
  for (const text of ['', '1', '1 7', '1 7 -', '2 7 -\n', '1 x -\n', '1   7 -   \n\n', '1 7 KILL\n', '\0\0\0\0\0\0', '1 7 -\n1 8 -\n']) {
    writeFileSync(path, text)
    expect(files.evidence.exit(id), JSON.stringify(text)).toBeNull()
  }
  writeFileSync(path, '1 137 -\n')
  expect(files.evidence.exit(id)).toMatchObject({ exit: { code: 137, signal: 'SIGKILL' }, told: null })
  writeFileSync(path, '1 143 TERM\n')
  expect(files.evidence.exit(id)).toMatchObject({ told: 'TERM' })
})

test('a harness is known by the stat line it wrote, or not at all', () => {
  const { id } = created()
  const path = join(files.runRecords.path(id), 'pid')
  expect([files.evidence.harness(id), files.evidence.neverBegan(id)]).toEqual([null, true])
  for (const text of ['', '12', 'x (y) z', '1 (init) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0']) {
    writeFileSync(path, text)
    expect([files.evidence.harness(id), files.evidence.neverBegan(id)], text).toEqual([null, false])
  }
  writeFileSync(path, readFileSync('/proc/self/stat'))
  expect(files.evidence.harness(id)).toMatchObject({ pid: process.pid })
})

const intent = { end: 'stopped', by: 'me', reason: 'because' } as const

verifies('private', 'the tombstone is put once, and never through a planted link', () => {
  const { id } = created()
  const victim = join(home, 'victim')
  symlinkSync(victim, files.fences.path(id))
  expect(files.fences.retire(id, intent)).toBe(true)
  expect(existsSync(victim)).toBe(false)
  expect([lstatSync(files.fences.path(id)).isFile(), files.fences.intent(id)]).toEqual([true, intent])
  const other = created()
  expect(files.fences.intent(other.id)).toBeNull()
  expect([files.fences.retire(other.id, intent), files.fences.retire(other.id, { ...intent, reason: 'later' })]).toEqual([true, true])
  expect(files.fences.intent(other.id)).toEqual(intent)
  expect(statSync(files.fences.path(other.id)).mode & 0o777).toBe(0o600)
})

test('the denial lies ready from the start, says who and why before the fence is there, and stays what it was on a full disk', () => {
  const seen: boolean[] = []
  const texts = {
    facts: 'claude deaf\n',
    denials: (session: string, who: Intent | null) => {
      seen.push(existsSync(told.fences.path(id)))
      return { denial: `${session} ${who?.reason ?? 'retired'}\n`, 'denial.gemini': `{"by":"${who?.by ?? ''}"}\n` }
    },
  }
  const told = runFiles(home, texts)
  const id = 'raaaaaaaabbbb'
  told.runRecords.create({ ...aRun('s'), id, keeper: null })
  const text = (name: string): string => readFileSync(join(told.runRecords.path(id), name), 'utf8')
  expect([text('facts'), text('denial'), text('denial.gemini')]).toEqual(['claude deaf\n', 's retired\n', '{"by":""}\n'])
  expect(statSync(join(told.runRecords.path(id), 'denial')).mode & 0o777).toBe(0o600)
  told.runRecords.recordRebound(id, 'other', ['s'])
  // The new text cannot be put in its place: this one stays, and the fence falls all the same.
  rmSync(join(told.runRecords.path(id), 'denial.gemini'))
  mkdirSync(join(told.runRecords.path(id), 'denial.gemini', 'x'), { recursive: true })
  expect(told.fences.retire(id, intent)).toBe(true)
  expect([seen, text('denial'), told.fences.isRetired(id)]).toEqual([[false, false], 'other because\n', true])
  expect(told.fences.retire(id, { ...intent, reason: 'later' })).toBe(true)
  expect(text('denial')).toBe('other because\n')
  // A record that cannot be read keeps nobody from retiring its run.
  const broken = created()
  writeFileSync(join(files.runRecords.path(broken.id), 'run.json'), '{')
  expect([told.fences.retire(broken.id, intent), files.fences.isRetired(broken.id)]).toEqual([true, true])
  for (const name of ['denial.7', 'denial.gemini.7']) writeFileSync(join(told.runRecords.path(id), name), '')
  expect(told.runRecords.litter(id)).toEqual(expect.arrayContaining(['denial.7', 'denial.gemini.7']))
  expect(told.runRecords.litter(id)).not.toContain('denial')
})

test('a tombstone without words is a tombstone, and no intent', () => {
  const { id } = created()
  for (const text of ['', '{', '{"end":"lost","by":"x","reason":"y"}', 'null']) {
    writeFileSync(files.fences.path(id), text)
    expect(files.fences.intent(id), text).toBeNull()
  }
})

verifies('evidence', 'what is put before the start is as long as any record, and none', () => {
  const { id } = created()
  const path = join(files.runRecords.path(id), 'exit')
  expect(files.evidence.exit(id)).toBeNull()
  const { size, ino } = statSync(path)
  for (const [code, told] of [
    [0, '-'],
    [7, '-'],
    [137, 'HUP'],
    [255, 'TERM'],
  ] as const) {
    execFileSync('/bin/sh', ['-c', `printf '1 %3d %-4s\n' ${code} ${told} 1<>"$1"`, 'sh', path])
    expect(statSync(path)).toMatchObject({ size, ino })
    expect(files.evidence.exit(id)).toMatchObject({ exit: { code }, told: told === '-' ? null : told })
  }
  expect(readFileSync('src/keep/scripts/keeper.sh', 'utf8')).toContain("printf '1 %3d %-4s\\n'")
})

verifies('private', 'only what is named like a run is ever removed', () => {
  mkdirSync(join(home, 'precious'))
  for (const id of ['../precious', '..', '', 'r1', 'raaaaaaaaaaa/../../precious']) files.runRecords.remove(id)
  expect(existsSync(join(home, 'precious'))).toBe(true)
  expect(existsSync(join(home, 'runs'))).toBe(true)
})

verifies('bounded', 'a log keeps its end within the cap, in place', () => {
  const { id } = created()
  const path = join(files.runRecords.path(id), 'log')
  writeFileSync(path, Buffer.concat([Buffer.alloc(25 * 1024 * 1024, 'a'), Buffer.from('the end\n')]))
  const { ino } = statSync(path)
  files.runLogs.cap(id)
  expect(statSync(path)).toMatchObject({ ino, size: 0 })
  const kept = readFileSync(`${path}.1`)
  expect(kept.length).toBe(10 * 1024 * 1024)
  expect(kept.subarray(-8).toString()).toBe('the end\n')
})

test('any word survives a shell', () => {
  for (const word of ['', "it's", '$HOME `id` "x" \\', 'a\nb', '*', "''", 'ü'])
    expect(execFileSync('/bin/sh', ['-c', `printf %s ${quote(word)}`], { encoding: 'utf8' })).toBe(word)
})

verifies(
  'bounded',
  'a pipe in the place of any file of a run tells nothing, is waited for by nobody, and is named where the run is judged by it',
  () => {
    const names =
      'exit pid run.json log log.1 keeper cgroup members native refused notice aware.1 activity prompted server nostart tombstone retired denial done timer usage begun follow prompt'.split(
        ' ',
      )
    const { id } = created()
    const folder = files.runRecords.path(id)
    expect(files.evidence.trouble(id)).toBeNull()
    for (const name of names) {
      rmSync(join(folder, name), { recursive: true, force: true })
      execFileSync('mkfifo', [join(folder, name)])
    }
    const { runRecords, evidence, fences, agentState, usageFiles, agentInbox, runLogs } = files
    expect([runRecords.read(id), runRecords.isUnreadable(id)]).toEqual([null, true])
    expect([evidence.harness, evidence.exit, evidence.notStarted, evidence.cgroup, evidence.server, evidence.timer].map((ask) => ask(id))).toEqual(
      Array(6).fill(null),
    )
    expect([evidence.journal(id), fences.intent(id), agentState.natives(id), agentState.refused(id)]).toEqual([[], null, [], []])
    expect([agentState.activity(id), agentState.prompted(id), usageFiles.counted(id), usageFiles.baseline(id)]).toEqual([null, null, null, []])
    expect([agentInbox.told(id), runLogs.size(id), runLogs.outputAt(id), runLogs.tail(id, 5), [...runLogs.read(id, 'now', 0)]]).toEqual([
      { version: 1, text: null },
      0,
      null,
      0,
      [],
    ])
    const judged = ['exit', 'pid', 'keeper', 'cgroup', 'nostart', 'run.json', 'members']
    expect(evidence.trouble(id)).toBe(judged.map((name) => `its file ${name} is a FIFO`).join(', '))
    agentState.recordActivity(id, 'busy')
    usageFiles.recordBaseline(id, 'x')
    runLogs.cap(id)
    runRecords.settle(id)
    agentState.recordNative(id, { harness: 'x', id: 'y' })
    usageFiles.recordFollowed(id, ['/x'])
    expect(agentInbox.take(id)).toEqual([])
    expect([fences.retire(id, intent), fences.intent(id)]).toEqual([true, intent])
    runRecords.recordKeeper(id, { pid: 300, ticks: 4000 })
    expect(evidence.trouble(id)).not.toContain('keeper')
    runRecords.tidy(id)
    expect([runRecords.remove(id), existsSync(folder)]).toEqual([null, false])
  },
)

verifies('evidence', "a link to another run's record is no evidence, and nothing is written through it", () => {
  const [mine, other] = [created(), created()]
  const at = (run: RunRecord, name: string): string => join(files.runRecords.path(run.id), name)
  writeFileSync(at(other, 'exit'), '1   0 -   \n')
  writeFileSync(at(other, 'pid'), '300 4000\n')
  for (const name of ['exit', 'pid', 'tombstone', 'activity', 'begun', 'log']) {
    rmSync(at(mine, name), { force: true })
    symlinkSync(at(other, name), at(mine, name))
  }
  expect([files.evidence.exit(mine.id), files.evidence.harness(mine.id)]).toEqual([null, null])
  files.agentState.recordActivity(mine.id, 'busy')
  files.usageFiles.recordBaseline(mine.id, 'x')
  files.fences.retire(mine.id, intent)
  expect(['activity', 'begun', 'log'].map((name) => existsSync(at(other, name)))).toEqual([false, false, false])
  expect(readFileSync(at(other, 'tombstone'), 'utf8').trim()).toBe('')
  expect(files.fences.intent(mine.id)).toEqual(intent)
})

verifies('unknown', 'run directories that cannot be listed are not taken for none', () => {
  const other = mkdtempSync(join(tmpdir(), 'hf-files-'))
  expect(runFiles(other).runRecords.list()).toEqual([])
  writeFileSync(join(other, 'runs'), '')
  expect(() => runFiles(other).runRecords.list()).toThrow(/cannot be listed: ENOTDIR/)
  rmSync(other, { recursive: true })
})

verifies('unknown', 'a record that may be there and cannot be read is told from one that is not there', () => {
  const { id } = created()
  const path = join(files.runRecords.path(id), 'run.json')
  expect(files.runRecords.isUnreadable(id)).toBe(false)
  rmSync(path)
  expect(files.runRecords.isUnreadable(id)).toBe(false)
  for (const put of [
    () => writeFileSync(path, '{'),
    () => mkdirSync(path),
    () => symlinkSync('/nowhere', path),
    () => execFileSync('mkfifo', [path]),
  ]) {
    rmSync(path, { recursive: true, force: true })
    put()
    expect([files.runRecords.isUnreadable(id), files.runRecords.read(id)]).toEqual([true, null])
  }
})

test('a record with a part that makes no sense is not read', () => {
  const record = created()
  const path = join(files.runRecords.path(record.id), 'run.json')
  const wrong = {
    session: 'no id!',
    epoch: 0,
    place: {},
    launcher: null,
    marker: 'x',
    argv: 'sh',
    dir: 'here',
    startedAt: '1',
    former: ['no id!'],
    cookie: undefined,
  }
  for (const [name, value] of Object.entries(wrong)) {
    writeFileSync(path, JSON.stringify({ format: 1, ...record, [name]: value }))
    expect(files.runRecords.read(record.id), name).toBeNull()
  }
  for (const epoch of [-1, 1.5, 1e12, 1e300]) {
    writeFileSync(path, JSON.stringify({ format: 1, ...record, epoch }))
    expect(files.runRecords.read(record.id), String(epoch)).toBeNull()
  }
})

verifies('bounded', 'the stamp of the run directories changes with each of them, and holds only once the folder is at rest', () => {
  const { stamp, seen, recordSeen } = files.runRecords
  const { id } = created()
  const rested = Date.now() + 60_000
  expect(stamp(Date.now())).toBeNull()
  expect(stamp(Date.now() - 3600_000)).toBeNull()
  const before = stamp(rested)
  expect(before).not.toBeNull()
  expect(stamp(rested)).toBe(before)
  utimesSync(join(home, 'runs'), 1, 1)
  const old = stamp(rested)
  files.runRecords.remove(id)
  expect(new Set([before, old, stamp(rested)]).size).toBe(3)
  expect(seen()).toBeNull()
  recordSeen('1 2 claimed r\nstamp\n')
  expect(seen()).toBe('1 2 claimed r\nstamp\n')
  rmSync(join(home, 'seen'))
  execFileSync('mkfifo', [join(home, 'seen')])
  expect(seen()).toBeNull()
})
