import { readdirSync, readlinkSync } from 'node:fs'
import type { BegunSince, Capture, Environment, Harness } from '../../model/index.ts'
import { isNativeId } from '../../model/index.ts'

/** What can be seen of an agent. */
export type Seen = {
  /** The process that is the agent, not one that only launched it; null: it is gone. */
  readonly agent: number | null
  /** The beginning of what it has printed, where that is in our log. */
  readonly output: () => string | null
  /** Its sessions that were begun where the run works, since it began; none where that says nothing. */
  readonly begun: (find: BegunSince) => readonly string[]
  /** The environments of what it started; null: it cannot be told whose those are. */
  readonly tools: () => readonly Environment[] | null
}

/** The native id, from the most certain source that has it; null: none says (yet), or they do not agree. */
export function captureNative({ capture, idVariable }: Harness, seen: Seen): string | null {
  for (const source of capture) {
    const ids = idsFrom(source, seen, idVariable)
    const [id, ...others] = new Set(ids)
    if (id !== undefined && others.length === 0 && isNativeId(id)) return id
  }
  return null
}

function idsFrom(source: Capture, { agent, output, tools, begun }: Seen, idVariable: string | null): string[] {
  switch (source.from) {
    case 'output':
      return idsInOutput(output() ?? '', source.field)
    case 'banner':
      return bannerOf(output() ?? '').flatMap((line) => source.line.exec(line)?.[1] ?? [])
    case 'open-file':
      return agent === null ? [] : openFiles(agent).flatMap((path) => source.path.exec(path)?.[1] ?? [])
    case 'begun':
      return [...begun(source.find)]
    case 'variable':
      return idVariable === null ? [] : (tools() ?? []).flatMap((env) => env[idVariable] ?? [])
  }
}

/** What it says of itself before it says anything else. */
const BANNER_LINES = 20
const bannerOf = (output: string): string[] => output.split('\n', BANNER_LINES)

/** The first line that has it speaks: later ones may be what a tool printed. */
function idsInOutput(output: string, field: string): string[] {
  for (const line of output.split('\n')) {
    const value = line.startsWith('{') ? fieldOf(parseOr(line), field) : null
    if (typeof value === 'string') return [value]
  }
  return []
}

const fieldOf = (value: unknown, field: string): unknown =>
  field
    .split('.')
    .reduce<unknown>((inner, name) => (typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[name] : null), value)

function parseOr(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

/** The files that a process has open; none if it may not be looked at. */
export function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => targetOf(`/proc/${pid}/fd/${fd}`) ?? [])
  } catch {
    return []
  }
}

/** A file may be closed while we look. */
function targetOf(link: string): string | null {
  try {
    return readlinkSync(link)
  } catch {
    return null
  }
}
