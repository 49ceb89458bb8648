import { createHash } from 'node:crypto'
import { fstatSync, statSync } from 'node:fs'
import type { Environment, FileCursor, LinesRule, Tokens, UsageCursor, UsageLine } from '../../model/index.ts'
import { addTokens, NO_TOKENS } from '../../model/index.ts'
import { type Count, counted, latest } from './count.ts'
import { bytesAt, withFile } from './regular.ts'
import { eachLine, MAX_LINE_BYTES } from './split.ts'

type Lines = Extract<UsageCursor, { kind: 'lines' }>

/** In one call; the rest is read by the next. Always more than one line may have, so that each call comes further. */
const MAX_READ_BYTES = 8 * MAX_LINE_BYTES
const MAX_FILES = 1000
/** What a glance reads: somebody waits for it, and it is one of many. The rest is for whoever looks longer. */
const GLANCE_BYTES = 1024 * 1024
const GLANCE_FILES = 50
const DIGEST_BYTES = 256
/** How far back from the end the last word about the cost is looked for. */
const TAIL_BYTES = 1024 * 1024

type At = { readonly env: Environment; readonly id: string }
type Read = { readonly tokens: Tokens; readonly cursor: Lines; readonly complete: boolean }

/** What was burned up to now, as far as it was written and read; null: there is nothing to read. */
export const readLines = (rule: LinesRule, at: At, cursor: Lines | null): Read | null =>
  readFiles(rule, rule.files(at.env, at.id, 'all').slice(0, MAX_FILES), cursor, MAX_READ_BYTES)

/** Looks only at files that are known, and where none is, for the session's own: of agents that it started meanwhile a glance says nothing. */
export function glanceLines(rule: LinesRule, at: At, cursor: Lines | null): Read | null {
  const known = Object.entries(cursor?.files ?? {})
  if (cursor === null || known.length === 0)
    return partly(readFiles(rule, rule.files(at.env, at.id, 'own').slice(0, GLANCE_FILES), cursor, GLANCE_BYTES))
  const grown = known.slice(0, GLANCE_FILES).filter(([path, { offset }]) => statSync(path, { throwIfNoEntry: false })?.size !== offset)
  const read = readFiles(
    rule,
    grown.map(([path]) => path),
    cursor,
    GLANCE_BYTES,
  )
  return partly(read ?? { tokens: cursor.tokens, cursor, complete: false })
}

const partly = (read: Read | null): Read | null => (read === null ? null : { ...read, complete: false })

function readFiles(rule: LinesRule, paths: readonly string[], cursor: Lines | null, maxBytes: number): Read | null {
  const since = cursor?.since ?? null
  const until = cursor?.until
  const files = new Map(Object.entries(cursor?.files ?? {}))
  let tokens = cursor?.tokens ?? NO_TOKENS
  let left = maxBytes
  let seen = 0
  let complete = true
  for (const path of paths) {
    const step = withFile(path, (fd, size) =>
      readFile(rule, fd, size, files.get(path) ?? freshFile(since, isYoung(fd, since)), { since, until }, left),
    )
    if (step === null) continue
    seen += 1
    left -= step.bytes
    complete &&= step.complete
    tokens = addTokens(tokens, step.burned)
    files.set(path, step.cursor)
  }
  return seen === 0
    ? null
    : { tokens, cursor: { kind: 'lines', since, ...(until === undefined ? {} : { until }), tokens, files: Object.fromEntries(files) }, complete }
}

/** Before anything is burned: what is there already does not count. */
export function baselineLines(rule: LinesRule, at: At, now: number): Lines {
  const files = rule.files(at.env, at.id, 'all').slice(0, MAX_FILES)
  const cursors = files.flatMap((path) => {
    const cursor = withFile(path, (fd, size): FileCursor => {
      const sessionCost = costBefore(rule, fd, size)
      return { ...freshFile(null, true), offset: size, before: digestBefore(fd, size), sessionCost }
    })
    return cursor === null ? [] : [[path, cursor] as const]
  })
  return { kind: 'lines', since: now, tokens: NO_TOKENS, files: Object.fromEntries(cursors) }
}

/** Counts what was written since: also in a file that came later, which may begin with a copy of what is older (a fork's does). */
export const linesSince = (since: number): Lines => ({ kind: 'lines', since, tokens: NO_TOKENS, files: {} })

const freshFile = (since: number | null, untimed: boolean): FileCursor => ({
  offset: 0,
  before: '',
  skipping: false,
  after: since,
  untimed,
  last: null,
  recent: [],
  sessionCost: 0,
})

/** Files and processes have their times from two clocks. */
const CLOCKS_MS = 1_000

/** What does not say when it was written is as old as its file. In one that is older than the counting, it counts from the first look on. */
const isYoung = (fd: number, since: number | null): boolean => since === null || fstatSync(fd).birthtimeMs >= since - CLOCKS_MS

type FileStep = { readonly cursor: FileCursor; readonly burned: Tokens; readonly bytes: number; readonly complete: boolean }

type Span = { readonly since: number | null; readonly until: number | undefined }

function readFile(rule: LinesRule, fd: number, size: number, known: FileCursor, { since, until }: Span, left: number): FileStep {
  const start = isContinued(fd, size, known) ? known : begunAnew(known, since)
  const to = Math.min(size, start.offset + left)
  let count: Count = { ...start, burned: NO_TOKENS }
  const place = eachLine(fd, start, to, (bytes) => {
    const line = rule.words.some((word) => bytes.includes(word)) ? lineOf(rule, bytes) : null
    if (line !== null && isInTime(line, until)) count = counted(count, line, rule.remembers)
  })
  const complete = to === size
  const { burned, ...cursor } = { ...count, ...place, before: digestBefore(fd, place.offset), untimed: count.untimed || complete }
  return { cursor, burned, bytes: to - start.offset, complete }
}

/** Of a time that is over, a line that does not say when it was written says nothing. */
const isInTime = (line: UsageLine, until: number | undefined): boolean =>
  until === undefined || line.kind === 'copied' || (line.kind === 'burned' && line.at > 0 && line.at <= until)

/** Whether what was read is still what lies before the offset. */
const isContinued = (fd: number, size: number, { offset, before }: FileCursor): boolean => size >= offset && digestBefore(fd, offset) === before

/** It was replaced, or cut: read from its beginning, but only what is newer than what counted already, or than the time when counting began. */
const begunAnew = (known: FileCursor, since: number | null): FileCursor => ({
  ...known,
  offset: 0,
  skipping: false,
  untimed: false,
  after: latest(latest(known.last, known.after), since),
})

function digestBefore(fd: number, offset: number): string {
  if (offset === 0) return ''
  return createHash('sha256')
    .update(bytesAt(fd, Math.max(0, offset - DIGEST_BYTES), offset))
    .digest('hex')
    .slice(0, 16)
}

/** Others write these lines: one that makes no sense says nothing. */
function lineOf(rule: LinesRule, bytes: Buffer): UsageLine | null {
  try {
    return rule.read(JSON.parse(bytes.toString('utf8')))
  } catch {
    return null
  }
}

/** What the session had cost by its last word about it; null: that lies too far back. */
function costBefore(rule: LinesRule, fd: number, size: number): number | null {
  const from = Math.max(0, size - TAIL_BYTES)
  let cost = from === 0 ? 0 : null
  eachLine(fd, { offset: from, skipping: from > 0 }, size, (bytes) => {
    const line = rule.words.some((word) => bytes.includes(word)) ? lineOf(rule, bytes) : null
    if (line?.kind === 'cost') cost = Math.max(cost ?? 0, line.total)
  })
  return cost
}
