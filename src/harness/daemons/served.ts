import { fstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { bytesAt, readFile, withFile } from '../../lib/index.ts'
import type { Asking, ProcessId, ServedSession } from '../../model/index.ts'
import { isSignallable } from '../../model/index.ts'
import { ticksOf } from '../recognise/flocks.ts'

/** Whom the shared daemons serve, by their own files. What makes no sense is thrown: then it cannot be told. */

type Worker = {
  pid: number
  procStart?: string
  replPid?: number
  replProcStart?: string
  sessionId?: string
  cwd: string
  startedAt?: number
  dispatch?: { createdAt?: number; sessionId?: string }
}

/** Claude Code 2.1: a worker is a process with a terminal for it, and the agent in that. Both were there before the session: they are lent to it. */
export function claudeRoster(path: string, program: string): ServedSession[] {
  const { workers } = JSON.parse(readFile(path, DOCUMENT_BYTES, 'followed')) as { workers: Record<string, Worker> }
  return Object.entries(workers).map(([short, { cwd, pid, procStart, replPid, replProcStart, sessionId, startedAt, dispatch }]) => {
    if (typeof cwd !== 'string' || typeof pid !== 'number') throw new Error(`worker ${short} of ${path} makes no sense`)
    return {
      nativeId: typeof sessionId === 'string' && sessionId !== '' ? sessionId : null,
      firstId: dispatch?.sessionId ?? null,
      dir: cwd,
      // When it was handed over; its worker may be an older one, or a newer that replaced one that died.
      since: dispatch?.createdAt ?? startedAt ?? null,
      processes: [...identity(pid, procStart), ...identity(replPid, replProcStart)],
      active: true,
      stop: { kind: 'command', command: [program, 'stop', short] },
    }
  })
}

/** A bare pid may have a new tenant: it names nobody. */
function identity(pid: number | undefined, start: string | undefined): ProcessId[] {
  if (pid === undefined || !isSignallable(pid) || typeof start !== 'string' || !/^\d{1,15}$/.test(start)) return []
  return [{ pid, ticks: Number(start) }]
}

/** Codex 0.166: a thread is served by whoever has its rollout open. It stays so for a while after its last turn, and when nobody watches. */
export function codexThreads(home: string): ServedSession[] | null {
  const { pid, processIdentity } = JSON.parse(readFile(join(home, 'app-server-daemon', 'daemon.pid'), DOCUMENT_BYTES, 'followed')) as AppServer
  // The pid may have a new tenant, and another daemon may be starting: whose files these are must be certain.
  if (!isSignallable(pid) || ticksOf(pid) !== Number(processIdentity?.startTicks)) return null
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => targetOf(`/proc/${pid}/fd/${fd}`))
  const rollouts = [...new Set(open.filter((path) => /\/rollout-[^/]*\.jsonl$/.test(path)))]
  return rollouts.map((path) => {
    const { timestamp, payload } = metaOf(path)
    const turn = turnAtWork(path)
    return {
      nativeId: payload.id ?? null,
      dir: payload.cwd,
      since: timeOf(timestamp),
      processes: [],
      active: turn !== null,
      stop: turn === null || payload.id === undefined ? null : interrupt(home, payload.id, turn),
    }
  })
}

type AppServer = { pid: number; processIdentity?: { startTicks?: number | string } }
type Meta = { timestamp?: string; payload: { id?: string; cwd: string; source?: unknown } }

/** The first line tells where it works. The rest may be long. */
const metaOf = (path: string): Meta => JSON.parse(partOf(path, 'beginning').split('\n', 1)[0] ?? '') as Meta

/** There is no command that ends one thread's work, but the daemon can be told on its socket, by whoever may open that. */
const interrupt = (home: string, threadId: string, turnId: string): Asking => ({
  kind: 'calls',
  socket: join(home, 'app-server-control', 'app-server-control.sock'),
  calls: [
    { method: 'turn/interrupt', params: { threadId, turnId } },
    { method: 'thread/backgroundTerminals/clean', params: { threadId } },
  ],
})

/** The turn that has begun and not ended, by the last that the rollout says of any; null: none. A turn that says much has begun further up. */
export function turnAtWork(path: string): string | null {
  const events = partOf(path, 'end')
    .split('\n')
    .flatMap((line) => eventIn(line) ?? [])
  const last = events.at(-1)
  return last === undefined || last.over ? null : last.turn
}

function eventIn(line: string): { readonly turn: string; readonly over: boolean } | null {
  let event: { payload?: { type?: string; turn_id?: string } } | null
  try {
    event = JSON.parse(line) as typeof event
  } catch {
    // Cut off where we began to read, or being written.
    return null
  }
  const { type = '', turn_id: turn } = event?.payload ?? {}
  // What a turn has left behind may end after it.
  if (turn === undefined || type === 'item_completed') return null
  return { turn, over: type === 'task_complete' || type === 'turn_aborted' }
}

/** A thread of the app server, and not of a command that ran by itself. Its id says when it was begun, which is where it lies. */
export function isThreadOfAppServer(home: string, id: string): boolean {
  const began = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  const days = [0, -1, 1].map((day) => new Date(began + day * 86_400_000).toISOString().slice(0, 10).split('-'))
  for (const day of days) {
    const folder = join(home, 'sessions', ...day)
    const name = namesIn(folder).find((one) => one.endsWith(`-${id}.jsonl`))
    if (name !== undefined) return !ALONE.includes(metaOf(join(folder, name)).payload.source)
  }
  return false
}

/** How a command that ran by itself calls itself in the rollout. */
const ALONE: readonly unknown[] = ['exec', 'cli']

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const timeOf = (text: string | undefined): number | null => (text === undefined || Number.isNaN(Date.parse(text)) ? null : Date.parse(text))

const DOCUMENT_BYTES = 4 * 1024 * 1024
const PART_BYTES = 256 * 1024
const partOf = (path: string, part: 'beginning' | 'end'): string =>
  withFile(
    path,
    'read',
    (fd) => bytesAt(fd, part === 'beginning' ? 0 : Math.max(0, fstatSync(fd).size - PART_BYTES), PART_BYTES).toString('utf8'),
    'followed',
  )

/** A file may be closed while we look. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** Cline 3.0: a file for each session; its processes are the hub's own. */
export function clineSessions(root: string): ServedSession[] {
  return readdirSync(root).flatMap((id): ServedSession[] => {
    const {
      status,
      cwd,
      started_at: began,
    } = JSON.parse(readFile(join(root, id, `${id}.json`), DOCUMENT_BYTES, 'followed')) as Record<string, string>
    return status === 'running' ? [{ nativeId: id, dir: cwd ?? '', since: timeOf(began), processes: [], active: true, stop: null }] : []
  })
}
