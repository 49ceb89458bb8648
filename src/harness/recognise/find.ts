import { join } from 'node:path'
import { orNull } from '../../lib/index.ts'
import type { BegunSince, Environment, OnDisk, ReadDatabase, Sessions } from '../../model/index.ts'
import { SESSION_ID } from '../../model/index.ts'
import { absolute, firstDir, isFile, isPlainId, namesIn, someLines } from './disk.ts'
import { firstWordsIn, wordsOf } from './first-words.ts'

/** How sessions are found; an id that is no plain name is not even looked for. */
export const sessionsBy = (find: Sessions['find'], words: Sessions['words'] = inLinesOf(find)): Sessions => ({
  find: (env, id, read) => (isPlainId(id) ? orNull(() => find(env, id, read)) : null),
  words: (env, id, read) => (isPlainId(id) ? orNull(() => words(env, id, read)) : null),
})

const inLinesOf =
  (find: Sessions['find']): Sessions['words'] =>
  (env, id, read) => {
    const path = find(env, id, read)?.path
    return path === undefined ? null : firstWordsIn(path)
  }

type InProject = { readonly below?: string /** Where its name is more than the id. */; readonly isIts?: (name: string, id: string) => boolean }

/** One file for each session, in a folder for each project: `ROOT/PROJECT/ID.jsonl`. Its lines tell the directory. */
export const inProjects = (root: (env: Environment) => string, { below = '', isIts }: InProject = {}): Sessions =>
  sessionsBy((env, id) => {
    for (const project of namesIn(root(env))) {
      const folder = join(root(env), project, below)
      const plain = join(folder, `${id}.jsonl`)
      const path = isIts === undefined ? (isFile(plain) ? plain : null) : fileIn(folder, (name) => isIts(name, id))
      if (path !== null) return { id, path, dir: ownDir(path, project) }
    }
    return null
  })

function fileIn(folder: string, isIts: (name: string) => boolean): string | null {
  const name = namesIn(folder).find(isIts)
  return name !== undefined && isFile(join(folder, name)) ? join(folder, name) : null
}

/** A session that was resumed elsewhere says so in its lines, and stays in the folder of its first directory. */
function ownDir(path: string, project: string): string | null {
  const lines = someLines(path)
  const named = lines.find(({ cwd }) => typeof cwd === 'string' && cwd.replaceAll(/[^a-zA-Z\d]/g, '-') === project)
  return absolute(named?.['cwd']) ?? firstDir(lines)
}

/** Codex and its kin: `ROOT/YYYY/MM/DD/rollout-TIME-ID.jsonl`, whose first line has the directory. The newest days come first. */
export const inRollouts = (roots: (env: Environment) => readonly string[]): Sessions =>
  sessionsBy((env, id) => {
    // The end of an id is the end of a file's name too.
    if (!SESSION_ID.test(id)) return null
    for (const root of roots(env)) {
      const path = rolloutIn(root, id)
      if (path !== null) return { id, path, dir: rolloutDir(path) }
    }
    return null
  })

const MAX_DAYS = 4000
function rolloutIn(root: string, id: string): string | null {
  let days = 0
  for (const year of numbered(root))
    for (const month of numbered(year))
      for (const day of numbered(month)) {
        days += 1
        const path = days > MAX_DAYS ? null : fileIn(day, (name) => name.startsWith('rollout-') && name.endsWith(`-${id}.jsonl`))
        if (path !== null) return path
      }
  return null
}

const numbered = (folder: string): string[] =>
  namesIn(folder)
    .filter((name) => /^\d{2,4}$/.test(name))
    .map((name) => join(folder, name))

function rolloutDir(path: string): string | null {
  const [meta] = someLines(path)
  const payload = meta?.['payload']
  return typeof payload === 'object' && payload !== null ? absolute((payload as { readonly cwd?: unknown }).cwd) : null
}

/** A row (`id`) for each session that was begun in a directory (first value) since a time in milliseconds (second). */
export const begunInDatabase =
  (path: (env: Environment) => string, sql: string): BegunSince =>
  (env, { dir, since }, read) =>
    (read(path(env), sql, [dir, String(since)]) ?? []).flatMap(({ id }) => (typeof id === 'string' ? id : []))

/** A row for each session, with its directory in the column `directory`; by another query with its title in the column `title`. */
export const inDatabase = (path: (env: Environment) => string, sql: string, titles?: string): Sessions => {
  const rowOf = (env: Environment, query: string, id: string, read: ReadDatabase): Readonly<Record<string, unknown>> | undefined =>
    ((isFile(path(env)) ? read(path(env), query, [id]) : null) ?? [])[0]
  return sessionsBy(
    (env, id, read): OnDisk | null => {
      const row = rowOf(env, sql, id, read)
      return row === undefined ? null : { id, path: path(env), dir: absolute(row['directory']) }
    },
    (env, id, read) => {
      const title = titles === undefined ? null : rowOf(env, titles, id, read)?.['title']
      return typeof title === 'string' ? wordsOf(title) : null
    },
  )
}
