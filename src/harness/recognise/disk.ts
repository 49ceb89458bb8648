import { fstatSync, readdirSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { bytesAt, orNull, readIfFile, withFile } from '../../lib/index.ts'
import type { Environment } from '../../model/index.ts'

export const homeOf = (env: Environment): string => env['HOME'] || '/nonexistent'
/** Where a harness keeps its things: where a variable says, or in the user's home. */
export const folderOf = (env: Environment, variable: string, name: string): string => env[variable] || join(homeOf(env), name)
export const dataOf = (env: Environment): string => folderOf(env, 'XDG_DATA_HOME', join('.local', 'share'))

/** Ids come from people: only one that can be nothing but a name is looked for. */
export const isPlainId = (id: string): boolean => /^[\da-zA-Z_][\w.-]{0,127}$/.test(id) && !id.includes('..')

const MAX_ENTRIES = 20_000
/** The names in a folder, the newest dates first where they are dates. */
export const namesIn = (folder: string): string[] => (orNull(() => readdirSync(folder)) ?? []).sort().reverse().slice(0, MAX_ENTRIES)

export const isFile = (path: string): boolean => orNull(() => statSync(path).isFile()) ?? false
export const isFolder = (path: string): boolean => orNull(() => statSync(path).isDirectory()) ?? false

const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024
export const textOf = (path: string, most = MAX_DOCUMENT_BYTES): string | null => readIfFile(path, most, 'followed')

export type Fields = Readonly<Record<string, unknown>>
export const fieldsIn = (text: string): Fields | null =>
  orNull(() => {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
  })
export function fieldsOf(path: string, most = MAX_DOCUMENT_BYTES): Fields | null {
  const text = textOf(path, most)
  return text === null ? null : fieldsIn(text)
}

const HEAD_BYTES = 256 * 1024
const TAIL_BYTES = 64 * 1024
/** The whole lines of JSON at the beginning of a file, and if it is long, at its end: a prompt in between may be of any size. */
export function someLines(path: string): Fields[] {
  const lines = orNull(() => withFile(path, 'read', linesIn, 'followed')) ?? []
  return lines.map(fieldsIn).filter((fields) => fields !== null)
}

function linesIn(fd: number): string[] {
  const { size } = fstatSync(fd)
  const piece = (from: number, most: number): string[] => bytesAt(fd, from, most).toString('utf8').split('\n')
  const head = piece(0, HEAD_BYTES)
  if (size <= HEAD_BYTES) return head
  head.pop()
  return [...head, ...piece(Math.max(HEAD_BYTES, size - TAIL_BYTES), TAIL_BYTES).slice(1)]
}

export const absolute = (value: unknown): string | null => (typeof value === 'string' && isAbsolute(value) ? value : null)
/** The first of these lines that tells a directory. */
export const firstDir = (lines: readonly Fields[], field = 'cwd'): string | null =>
  lines.map((line) => absolute(line[field])).find((dir) => dir !== null) ?? null
