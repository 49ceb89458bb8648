import { basename, dirname, join } from 'node:path'
import type { Anchor, Anchors, Environment, ToolPidFiles } from '../../model/index.ts'
import { fileAt, isThereAtAll, listed, malformed, pidIn } from './anchors.ts'
import { fieldsIn, homeOf, namesIn } from './disk.ts'

const KEYS = ['path', 'start']
const NAME = /^[a-z][a-z\d-]{0,31}$/
/** Ticks since the boot, with or without the boot's id before them. */
const START = /^(?:(?<boot>[\da-f-]{36}):)?(?<ticks>\d{1,15})$/

/** What it does not understand is an error that says what would be. */
export function toolPidFilesFrom(name: string, table: unknown, where: string): ToolPidFiles {
  const wrong = (key: string | null, allowed: string): Error => new Error(`${where}: [pid_files.${name}]${key === null ? '' : ` ${key}`}: ${allowed}`)
  if (!NAME.test(name)) throw wrong(null, 'a name is of small letters, digits and -, begins with a letter, and has at most 32 of them')
  if (typeof table !== 'object' || table === null || Array.isArray(table)) throw wrong(null, 'it must be a table')
  const { path, start = null, ...more } = table as Record<string, unknown>
  const unknown = Object.keys(more)[0]
  if (unknown !== undefined) throw wrong(unknown, `there is no such key; the keys are ${KEYS.join(' and ')}`)
  if (typeof path !== 'string' || !/^(~|)\//.test(path) || path.includes('..') || !isPattern(path))
    throw wrong('path', 'it is needed: an absolute path, or one that begins with ~/, with {pid} once, in the name of the file')
  if (start !== null && !(typeof start === 'string' && /^[\w-]+$/.test(start)))
    throw wrong('start', 'it must be the name of the field of JSON that has the start of the process, in ticks')
  return { name, anchors: anchorsOf(name, path, start) }
}

const isPattern = (path: string): boolean => basename(path).split('{pid}').length === 2 && !dirname(path).includes('{')

function anchorsOf(tool: string, pattern: string, start: string | null): Anchors {
  const [before = '', after = ''] = basename(pattern).split('{pid}')
  const folderIn = (env: Environment): string => dirname(pattern.startsWith('~/') ? join(homeOf(env), pattern.slice(2)) : pattern)
  const pidOf = (name: string): number | null =>
    name.startsWith(before) && name.endsWith(after) ? pidIn(name.slice(before.length, name.length - after.length)) : null
  const read = (path: string): Anchor | null => anchorAt(tool, path, pidOf(basename(path)), start)
  return {
    list: (env) => {
      const names = namesIn(folderIn(env)).filter((name) => pidOf(name) !== null)
      return listed(
        names.map((name) => join(folderIn(env), name)),
        read,
      )
    },
    read,
  }
}

function anchorAt(tool: string, path: string, pid: number | null, start: string | null): Anchor | null {
  if (pid === null || !isThereAtAll(path)) return null
  const file = fileAt(path)
  if (file === null) return malformed(tool, path, 'it may not be read, or is no plain file')
  const told = start === null ? null : fieldsIn(file.text)?.[start]
  const { ticks, boot } = (typeof told === 'string' || typeof told === 'number' ? START.exec(String(told))?.groups : undefined) ?? {}
  if (start !== null && ticks === undefined) return malformed(tool, path, `it does not tell the start of its process (${start})`)
  const says = {
    kind: 'process',
    pid,
    ticks: ticks === undefined ? null : Number(ticks),
    bootId: boot ?? null,
    machine: null,
    pidNamespace: null,
    flock: 'none',
  } as const
  return { harness: tool, nativeId: null, path, files: [{ path, stamp: file.stamp }], says }
}
