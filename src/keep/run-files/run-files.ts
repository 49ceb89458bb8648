import { existsSync, fstatSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { bytesAt, createFile, FileTrouble, orNull, readIfFile, replaceFile, withFile, writeAll } from '../../lib/index.ts'
import type { ExitRecord, Intent, ProcessId, RunFiles, RunRecord } from '../../model/index.ts'
import { exitFromShell, isSignallable, policy } from '../../model/index.ts'
import { type HookTexts, layHookFiles, NO_TEXTS, renderDenials } from '../hooks/hook-files.ts'
import { readActivity, writeActivity } from './activity.ts'
import { appendIfPossible, mayExist, readIfThere, writeIfPossible } from './atomic.ts'
import { readNatives, writeNative } from './conversations.ts'
import { readJournal, writeJournal } from './journal.ts'
import { capLog, readFrom, sizeOf, startOfTail, timeOf } from './log.ts'
import { dropNotice, leaveNotice, takeNotices } from './notices.ts'
import { removeWhole } from './remove.ts'
import { inFolder, listRuns, RUN_ID, readSeen, stampOf, writeSeen } from './run-folder.ts'
import { isRunRecord } from './run-record.ts'
import { troubleIn } from './run-trouble.ts'
import { readTold, replaceTold } from './versioned-file.ts'

/** The version of the run directory's layout: `run.json`, `keeper`, `pid`, `cgroup`, `members`, `native`, `refused`, `prompt`, `begun`, `usage`, `notice`, `aware.N`, `activity`, `facts`, `denial`, `denial.HARNESS`, `follow`, `followed`, `exit`, `nostart`, `tombstone` (`retired` once put), `done`, `timer`, `guard`, `ear`, `gate`, `server`, `prompted`, `plan`, `log`, `gone`. */
export const RUN_FORMAT = 1
/** The keeper writes over this, in place: as long as any record, and none. */
const EXIT_BLANK = `0${' '.repeat(9)}\n`
/** What records of the first releases do not say. */
const OLDER = {
  containment: { level: 'none', why: 'it was started by an older Holdfast' },
  task: null,
  adopted: false,
  budget: null,
  budgetCost: null,
  tmux: null,
} as const
const TOMBSTONE_BYTES = 512
/** The stub writes over this in place, right before it becomes the agent: as long as it is as it was, no agent has begun. */
const PID_BLANK = `${' '.repeat(511)}\n`

/** `texts`: left out by those who neither create nor retire runs. */
export function runFiles(home: string, texts: HookTexts = NO_TEXTS): RunFiles {
  const root = join(home, 'runs')
  const at = (run: string, file: string): string => join(root, run, file)
  return {
    runRecords: {
      create(run) {
        mkdirSync(join(root, run.id), { mode: 0o700 })
        createFile(at(run.id, 'exit'), EXIT_BLANK)
        createFile(at(run.id, 'pid'), PID_BLANK)
        createFile(at(run.id, 'tombstone'), ' '.repeat(TOMBSTONE_BYTES))
        layHookFiles(join(root, run.id), texts, run.session)
        replaceFile(at(run.id, 'run.json'), JSON.stringify({ format: RUN_FORMAT, ...run }))
      },
      recordKeeper: (run, keeper) => replaceFile(at(run, 'keeper'), `${keeper.pid} ${keeper.ticks}\n`),
      recordRebound: (run, session, former) => {
        const record = readRecord(root, run)
        if (record !== null) writeIfPossible(at(run, 'run.json'), JSON.stringify({ format: RUN_FORMAT, ...record, session, former }))
      },
      read: (run) => (RUN_ID.test(run) ? readRecord(root, run) : null),
      isUnreadable: (run) => mayExist(at(run, 'run.json')) && readRecord(root, run) === null,
      list: () => listRuns(root),
      stamp: (now) => stampOf(root, now),
      seen: () => readSeen(home),
      recordSeen: (text) => writeSeen(home, text),
      isGone: (run) => orNull(() => lstatSync(at(run, 'gone'))) !== null,
      recordGone: (run) => void createOnce(at(run, 'gone')),
      uid: (run) => statSync(join(root, run), { throwIfNoEntry: false })?.uid ?? null,
      remove: (run) => (RUN_ID.test(run) ? removeWhole(join(root, run)) : null),
      path: (run) => join(root, run),
      settle: (run) => void createOnce(at(run, 'done')),
      litter: (run) => litterIn(join(root, run)),
      tidy: (run) => {
        for (const name of litterIn(join(root, run))) orNull(() => rmSync(at(run, name), { recursive: true, force: true }))
      },
    },
    evidence: {
      keeper: (run) => processFrom(evidenceIn(at(run, 'keeper'))),
      harness: (run) => processFrom(evidenceIn(at(run, 'pid'))),
      recordHarness: (run, harness) => replaceFile(at(run, 'pid'), `${harness.pid} ${harness.ticks}\n`),
      exit: (run) => readExit(at(run, 'exit')),
      notStarted: (run) => {
        const text = readIfThere(at(run, 'nostart'), policy.evidenceBytes)?.trim() ?? ''
        return /^\d{1,3}$/.test(text) ? Number(text) : null
      },
      neverBegan: (run) => evidenceIn(at(run, 'pid')) === PID_BLANK,
      cgroup: (run) => ownCgroup(readIfThere(at(run, 'cgroup'), policy.evidenceBytes)?.trimEnd() ?? '', run),
      server: (run) => processFrom(evidenceIn(at(run, 'server'))),
      recordServer: (run, { pid, ticks }) => void writeIfPossible(at(run, 'server'), `${pid} ${ticks}\n`),
      timer: (run) => processFrom(readIfThere(at(run, 'timer'), policy.evidenceBytes)),
      guard: (run) => processFrom(readIfThere(at(run, 'guard'), policy.evidenceBytes)),
      journal: (run) => readJournal(at(run, 'members')),
      recordJournal: (run, entries) => writeJournal(at(run, 'members'), entries),
      trouble: (run) => (RUN_ID.test(run) ? troubleIn(join(root, run)) : null),
    },
    fences: {
      retire: (run, intent) => {
        const there = inFolder(join(root, run), () => lstatSync(at(run, 'retired'), { throwIfNoEntry: false }))
        if (there?.isFile() === true) return true
        // The denial comes first: a call that meets the fence finds it. (Of two who retire at once, it may name the other one.)
        const session = readRecord(root, run)?.session
        if (session !== undefined) renderDenials(join(root, run), texts, session, intent)
        return putTombstone(at(run, 'tombstone'), at(run, 'retired'), intent)
      },
      isRetired: (run) => inFolder(join(root, run), () => lstatSync(at(run, 'retired'), { throwIfNoEntry: false })) !== undefined,
      intent: (run) => readIntent(at(run, 'retired')),
      path: (run) => at(run, 'retired'),
    },
    agentState: {
      natives: (run) => readNatives(at(run, 'native')),
      recordNative: (run, native) => writeNative(at(run, 'native'), native),
      refused: (run) => readNatives(at(run, 'refused')),
      recordRefused: (run, native) => writeNative(at(run, 'refused'), native),
      activity: (run) => readActivity(at(run, 'activity')),
      recordActivity: (run, state) => writeActivity(at(run, 'activity'), state),
      prompted: (run) => readIfFile(at(run, 'prompted'), policy.runFileBytes),
      recordPrompted: (run, text) => void writeIfPossible(at(run, 'prompted'), text),
      hasPrompt: (run) => existsSync(at(run, 'prompt')),
      recordPrompt: (run, prompt) => {
        replaceFile(at(run, 'prompt'), prompt)
        return at(run, 'prompt')
      },
    },
    usageFiles: {
      counted: (run) => readIfFile(at(run, 'usage'), policy.runRecordBytes),
      recordCounted: (run, text) => void writeIfPossible(at(run, 'usage'), text),
      baseline: (run) => (readIfFile(at(run, 'begun'), policy.runFileBytes) ?? '').split('\n').filter((line) => line !== ''),
      recordBaseline: (run, line) => void appendIfPossible(at(run, 'begun'), `\n${line}\n`),
      recordFollowed: (run, paths) => void writeIfPossible(at(run, 'follow'), paths.map((path) => `${path}\n`).join('')),
    },
    agentInbox: {
      leave: (run, notice) => leaveNotice(at(run, 'notice'), notice),
      take: (run) => takeNotices(at(run, 'notice')),
      drop: (run, topic) => dropNotice(at(run, 'notice'), topic),
      told: (run) => readTold(join(root, run)),
      recordTold: (run, seen, text) => replaceTold(join(root, run), seen, text),
    },
    runLogs: {
      cap: (run) => capLog(at(run, 'log')),
      read: (run, part, from) => readFrom(at(run, part === 'now' ? 'log' : 'log.1'), from),
      tail: (run, lines) => startOfTail(at(run, 'log'), lines),
      size: (run) => sizeOf(at(run, 'log')),
      outputAt: (run) => timeOf(at(run, 'log')),
    },
  }
}

/** Only one that was made for this very run: everybody in it is taken for its member. */
const ownCgroup = (path: string, run: string): string | null =>
  /^\/.*\/holdfast-[0-9a-f]{12}-(r[0-9a-f]{12})(\.scope)?$/.exec(path)?.[1] === run ? path : null

const LITTER =
  /^(ear|gate|plan|timer|guard|done|prompt|notice|follow|followed|(run\.json|keeper|server|prompted|members|usage|follow|notice|aware|denial(\.[a-z]+)?|(notice|aware)\.left)\.\d+)$/
function litterIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => LITTER.test(name))
  } catch {
    return []
  }
}

function readRecord(root: string, run: string): RunRecord | null {
  const text = readIfFile(join(root, run, 'run.json'), policy.runRecordBytes)
  if (text === null) return null
  try {
    const { format, ...record } = JSON.parse(text) as RunRecord & { format: number }
    const whole = { ...OLDER, ...record, keeper: processFrom(evidenceIn(join(root, run, 'keeper'))) ?? record.keeper }
    return format === RUN_FORMAT && record.id === run && isRunRecord(whole) ? whole : null
  } catch {
    return null
  }
}

/** Either `pid ticks`, or a whole stat line as a shell could write it about itself. */
function processFrom(text: string | null): ProcessId | null {
  if (text === null) return null
  const close = text.lastIndexOf(')')
  const ticks = Number(close < 0 ? text.trim().split(' ')[1] : text.slice(close + 2).split(' ')[22 - 3])
  const pid = Number.parseInt(text, 10)
  return isSignallable(pid) && Number.isInteger(ticks) ? { pid, ticks } : null
}

/** `1 CODE TOLD`, padded. Anything else is no evidence. */
function readExit(path: string): ExitRecord | null {
  return orNull(() =>
    withFile(path, 'read', (fd) => {
      const match = /^1 {1,3}(\d{1,3}) (-|TERM|HUP) *\n$/.exec(bytesAt(fd, 0, policy.evidenceBytes).toString('latin1'))
      if (match === null) return null
      return { exit: exitFromShell(Number(match[1])), told: match[2] === '-' ? null : (match[2] ?? null), at: fstatSync(fd).mtimeMs }
    }),
  )
}

const evidenceIn = (path: string): string | null => readIfFile(path, policy.evidenceBytes)

/**
 * The tombstone lies ready from the start: a full disk can still be told who wants the end. Its words are written in place, then it gets
 * the name by which it is a fence. The first one stands, and nothing is ever written through a link that somebody planted.
 */
function putTombstone(ready: string, fence: string, intent: Intent): boolean {
  try {
    withFile(ready, 'change', (fd) => writeAll(fd, wordsOf(intent), 0))
    renameSync(ready, fence)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Somebody else has just put it, or this directory is not whole: then the bare fence must do.
    if (code === 'ENOENT') return createOnce(fence)
    // Something else lies in its place, or in that of the fence: a directory cannot be replaced, but is a fence too.
    return error instanceof FileTrouble ? writeIfPossible(fence, wordsOf(intent)) : code === 'EISDIR'
  }
}

function wordsOf({ end, by, reason }: Intent): string {
  const words = JSON.stringify({ end, by, reason })
  return (words.length <= TOMBSTONE_BYTES ? words : JSON.stringify({ end, by: by.slice(0, 60), reason: reason.slice(0, 60) })).padEnd(TOMBSTONE_BYTES)
}

function createOnce(path: string): boolean {
  try {
    createFile(path, '')
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST'
  }
}

function readIntent(path: string): Intent | null {
  const text = readIfThere(path, policy.evidenceBytes)
  if (text === null) return null
  try {
    const { end, by, reason } = JSON.parse(text) as Partial<Intent>
    if ((end !== 'stopped' && end !== 'superseded') || typeof by !== 'string' || typeof reason !== 'string') return null
    return { end, by, reason }
  } catch {
    return null
  }
}
