import { fstatSync, lstatSync } from 'node:fs'
import { bytesAt, orNull, sha256, withFile } from '../../lib/index.ts'
import type { Anchor, AnchorFile, Anchors } from '../../model/index.ts'
import { isPid } from '../../model/index.ts'

const MAX_ANCHORS = 500
const MAX_BYTES = 64 * 1024

/** One read for all that is asked of a file, so that what is judged is what the stamp stands for. Null: no plain file of that size. */
export const fileAt = (path: string): { readonly text: string; readonly stamp: string } | null =>
  orNull(() =>
    withFile(path, 'read', (fd) => {
      const stats = fstatSync(fd, { bigint: true })
      if (stats.size > MAX_BYTES) return null
      const bytes = bytesAt(fd, 0, MAX_BYTES)
      const stamp = [stats.dev, stats.ino, stats.size, stats.mtimeNs, sha256(bytes)].join(':')
      return { text: bytes.toString('utf8'), stamp }
    }),
  )

/** What a file is now, to be told from whatever may have come in its place. */
export const stampOf = (path: string): string | null => fileAt(path)?.stamp ?? null

export const isThereAtAll = (path: string): boolean => orNull(() => lstatSync(path)) !== null

/** Those of them that are there, as they are. */
export const stamped = (paths: readonly string[]): AnchorFile[] =>
  paths.flatMap((path) => {
    const stamp = stampOf(path)
    return stamp === null ? [] : [{ path, stamp }]
  })

/** The anchors at these paths, up to a bound. */
export const listed = (paths: readonly string[], read: Anchors['read']): ReturnType<Anchors['list']> => ({
  anchors: paths.slice(0, MAX_ANCHORS).flatMap((path) => read(path) ?? []),
  whole: paths.length <= MAX_ANCHORS,
})

/** One that makes no sense is told of, and never removed or looked for. */
export const malformed = (harness: string, path: string, why: string): Anchor => ({
  harness,
  nativeId: null,
  path,
  files: [],
  says: { kind: 'malformed', why },
})

/** A pid as it stands in a name; null: it is none that a process can have. */
export const pidIn = (text: string): number | null => (isPid(Number(text)) && String(Number(text)) === text ? Number(text) : null)
