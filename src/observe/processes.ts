import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { uptime } from 'node:os'
import { basename } from 'node:path'
import { readKernelFile } from '../lib/index.ts'
import type { Environment, Place, Processes, ProcessId, ProcessRow, ProcessTable, Sample, SendAnswer, Signal } from '../model/index.ts'
import { INITIAL_PID_NAMESPACE, innermostCookie, isDead, isMarker, isPid, isSignallable, LINEAGE_VARIABLE, MS_PER_TICK } from '../model/index.ts'
import { isHiding, isNamespaceGone, namesakesOf } from './namespaces.ts'
import { childrenOf, writtenBy } from './open-files.ts'
import { listeningPorts } from './ports.ts'
import { parseRttime, parseStat, readSmall, type StatRow } from './proc.ts'
import { isTerminalSince, terminalOf } from './terminal.ts'

/** Process truth from /proc, in this process, without any other program. */
export function linuxProcesses(place: Place): Processes {
  const own = ownLineage()
  return {
    here: () => place,
    self: () => own.self,
    origins: () => own.origins,
    ticks: () => own.self.ticks + Math.floor(ageMs(own.self.ticks) / MS_PER_TICK),
    sample,
    table,
    environment: environmentOf,
    arguments: argumentsOf,
    exe: (pid) => linkAt(`/proc/${pid}/exe`),
    marker: markerOf,
    cwd: (pid) => linkAt(`/proc/${pid}/cwd`),
    children: childrenOf,
    writes: writtenBy,
    ports: listeningPorts,
    cpu,
    terminal: terminalOf,
    isTerminalSince,
    isNamespaceGone: (namespace) => place.pidNamespace === INITIAL_PID_NAMESPACE && isNamespaceGone(namespace),
    namesakes: (pid) => (place.pidNamespace === INITIAL_PID_NAMESPACE ? namesakes(pid) : null),
    hides: isHiding,
    send: (process, signal) => send(process, signal, own.pids),
  }
}

/**
 * How long we have lived. A container may show another uptime than the one its processes are born by, so it is counted from our own birth on;
 * but by that clock, which goes on while the machine sleeps, as the ticks do: one of ours may live for weeks.
 */
const ageMs = (bornAt: number): number => {
  const uptimeMs = uptime() * 1000
  first ??= { ageMs: ageAt(uptimeMs, bornAt), uptimeMs }
  return first.ageMs + uptimeMs - first.uptimeMs
}

/** Node's own clock begins when it has started, and on a busy machine that is long after our birth: the uptime tells more, where both are of one clock. */
function ageAt(uptimeMs: number, bornAt: number): number {
  const [started, born] = [performance.now(), uptimeMs - bornAt * MS_PER_TICK]
  return born > started && born - started < STARTS_WITHIN_MS ? born : started
}
const STARTS_WITHIN_MS = 60_000
let first: { readonly ageMs: number; readonly uptimeMs: number } | null = null

function sample(pid: number): Sample {
  return isPid(pid) ? look(pid, absentUnlessHidden) : { kind: 'absent' }
}

function look(pid: number, otherwise: (pid: number) => Sample): Sample {
  try {
    const { text, uid } = readSmall(`/proc/${pid}/stat`)
    const row = parseStat(text, uid)
    if (row === null) return { kind: 'hidden', why: 'its stat line makes no sense' }
    return { kind: 'seen', row: row.uid === 0 ? { ...row, uid: ownerOf(pid) ?? 0 } : row }
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') return otherwise(pid)
    if (code === 'ESRCH') return { kind: 'absent' }
    return { kind: 'hidden', why: code }
  }
}

/** No entry in /proc is not death: with hidepid the entry is missing while the process lives. */
function absentUnlessHidden(pid: number): Sample {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return { kind: 'absent' }
    return { kind: 'hidden', why: 'it exists, but /proc hides it (another user, hidepid)' }
  }
  // It answered: either it was born between the two looks, or /proc does not show this pid namespace.
  return look(pid, () => ({ kind: 'hidden', why: 'it exists, but /proc does not show it' }))
}

/** Who has vanished since is none; who may not be looked at might be one. */
function namesakes(pid: number): ProcessRow[] | null {
  const samples = namesakesOf(pid)?.map(sample)
  if (samples === undefined || samples.some(({ kind }) => kind === 'hidden')) return null
  return samples.flatMap((seen) => (seen.kind === 'seen' ? [seen.row] : []))
}

function table(look: { since: number; cookies: boolean }): ProcessTable {
  const rows: ProcessRow[] = []
  let blind: string | null = null
  for (const entry of readdirSync('/proc')) {
    const first = entry.charCodeAt(0)
    if (first < 48 || first > 57) continue
    try {
      const { text, uid } = readSmall(`/proc/${entry}/stat`)
      const row = parseStat(text, uid)
      if (row === null) blind = `the stat line of pid ${entry} makes no sense`
      else if (!row.kernelThread) rows.push(row.ticks >= look.since && !isDead(row.state) ? withMarks(row, look.cookies) : row)
    } catch (error) {
      if (!isVanished(error)) blind ??= `pid ${entry} could not be read: ${errorCode(error)}`
    }
  }
  return { rows, blind: procMatches() ? blind : '/proc shows another pid namespace than ours' }
}

function withMarks(seen: StatRow, cookies: boolean): ProcessRow {
  let row = seen
  try {
    const rttime = parseRttime(readSmall(`/proc/${row.pid}/limits`).text)
    const marker = rttime !== null && isMarker(rttime) ? rttime : null
    if (marker !== null && row.uid === 0) row = { ...row, uid: ownerOf(row.pid) ?? row.uid }
    return cookies ? { ...row, marker, cookie: readCookie(row.pid) } : { ...row, marker }
  } catch (error) {
    if (isVanished(error)) return { ...row, state: 'X' }
    return isOurs(row.pid) ? { ...row, unreadable: errorCode(error) } : row
  }
}

/** Files of a process that may not be dumped show root as their owner; its folder shows the true one. */
function ownerOf(pid: number): number | null {
  try {
    return statSync(`/proc/${pid}`).uid
  } catch {
    return null
  }
}

/** Null: it has none, or we may not look (then the marker has to speak). */
function readCookie(pid: number): string | null {
  try {
    const environ = `\0${readKernelFile(`/proc/${pid}/environ`).toString('latin1')}`
    const at = environ.indexOf(`\0${LINEAGE_VARIABLE}=`)
    if (at < 0) return null
    const from = at + LINEAGE_VARIABLE.length + 2
    const end = environ.indexOf('\0', from)
    return innermostCookie(environ.slice(from, end < 0 ? undefined : end))
  } catch {
    return null
  }
}

function cpu({ pid, ticks }: ProcessId): { ownMs: number; childrenMs: number } | null {
  try {
    const { text } = readSmall(`/proc/${pid}/stat`)
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const at = (field: number): number => Number(fields[field - 3])
    return at(22) === ticks ? { ownMs: (at(14) + at(15)) * MS_PER_TICK, childrenMs: (at(16) + at(17)) * MS_PER_TICK } : null
  } catch {
    return null
  }
}

function linkAt(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

function markerOf(pid: number): number | null | undefined {
  try {
    const rttime = parseRttime(readSmall(`/proc/${pid}/limits`).text)
    return rttime !== null && isMarker(rttime) ? rttime : null
  } catch {
    return undefined
  }
}

const argumentsOf = (pid: number): readonly string[] => wordsIn(`/proc/${pid}/cmdline`)

const environmentOf = (pid: number): Environment =>
  Object.fromEntries(wordsIn(`/proc/${pid}/environ`).map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]))

function wordsIn(path: string): string[] {
  try {
    return readKernelFile(path).toString('utf8').split('\0').filter(Boolean)
  } catch {
    return []
  }
}

function send(target: ProcessId, signal: Signal, own: ReadonlySet<number>): SendAnswer {
  if (!isSignallable(target.pid) || own.has(target.pid) || !procMatches()) return 'forbidden'
  const seen = sample(target.pid)
  if (seen.kind === 'absent') return 'gone'
  if (seen.kind === 'hidden') return 'denied'
  if (seen.row.ticks !== target.ticks) return 'someone-else'
  if (isDead(seen.row.state)) return 'gone'
  try {
    process.kill(target.pid, signal)
    return 'sent'
  } catch (error) {
    return errorCode(error) === 'ESRCH' ? 'gone' : 'denied'
  }
}

/** Ourselves and our ancestors: never to be signalled by us. A helper's parent is no origin: an agent may have adopted it (a subreaper). */
function ownLineage(): { self: ProcessId; origins: readonly ProcessId[]; pids: ReadonlySet<number> } {
  const first = sample(process.pid)
  const self = { pid: process.pid, ticks: first.kind === 'seen' ? first.row.ticks : -1 }
  const origins = [self]
  const pids = new Set([process.pid])
  const helper = isHelper()
  for (let at = first; at.kind === 'seen' && at.row.parent > 0 && !pids.has(at.row.parent) && !helper; ) {
    const { parent } = at.row
    pids.add(parent)
    at = sample(parent)
    if (at.kind === 'seen') origins.push({ pid: parent, ticks: at.row.ticks })
  }
  return { self, origins, pids }
}

/** Were we started to work for a run, and belong to none? Our own command line says it: nobody else's word is taken for it. */
export const isHelper = ([, program = '', ...argv]: readonly string[] = process.argv): boolean => {
  const [verb = '', next = ''] = argv
  if (basename(program) !== 'cli.cjs') return false
  if (verb === 'daemon') return next === 'run'
  return ['_finish', '_end', '_follow'].includes(verb) || (verb === 'stop' && argv.includes('--outside'))
}

const procMatches = (): boolean => {
  try {
    return Number.parseInt(readSmall('/proc/self/stat').text, 10) === process.pid
  } catch {
    return false
  }
}

const isOurs = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const errorCode = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error)
const isVanished = (error: unknown): boolean => ['ENOENT', 'ESRCH'].includes(errorCode(error))
