import { lstatSync, mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn, readIfFile, replaceFile } from '../../lib/index.ts'
import type { Notice } from '../../model/index.ts'
import { MESSAGES, policy } from '../../model/index.ts'

/** So many topics wait to be told: more than that, nobody would read. */
const MAX_TOPICS = 8
/** How often a notice is put down again that lost its folder to somebody who told it. */
const MAX_TRIES = 5

/**
 * A folder with a file a topic. A hook that tells them moves the whole folder away first: what comes later finds no
 * folder, and makes a new one. So each notice is told once, and none is lost. A full disk is no trouble.
 */
export function leaveNotice(folder: string, { topic, text }: Notice): void {
  const ready = `${folder}.left.${process.pid}`
  try {
    replaceFile(ready, `${text}\n`)
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      makeFolder(folder)
      const waiting = namesIn(folder).toSorted()
      if (waiting.length >= MAX_TOPICS && !waiting.includes(topic)) {
        // That they wait counts as told from now on: it always finds room.
        if (topic !== MESSAGES) return
        dropOldest(folder, waiting)
      }
      if (isMoved(ready, join(folder, topic))) return
    }
  } catch {
    // It is only told: what it is about is on record.
  } finally {
    rmSync(ready, { force: true })
  }
}

function dropOldest(folder: string, topics: readonly string[]): void {
  const ages = topics.map((topic) => ({ topic, since: lstatSync(join(folder, topic), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
  const [oldest] = ages.toSorted((one, other) => one.since - other.since)
  if (oldest !== undefined) rmSync(join(folder, oldest.topic), { force: true })
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** All that wait; from now on it is the caller's to tell them. */
export function takeNotices(folder: string): Notice[] {
  const taken = `${folder}.${process.pid}`
  // One who had our pid died while telling these.
  rmSync(taken, { recursive: true, force: true })
  if (!isMoved(folder, taken)) return []
  // An older Holdfast left one file instead of a folder.
  const older = lstatSync(taken, { throwIfNoEntry: false })?.isFile() === true ? [{ topic: 'notice', text: textAt(taken) }] : null
  const notices = older ?? topicsIn(taken).map((topic) => ({ topic, text: textAt(join(taken, topic)) }))
  rmSync(taken, { recursive: true, force: true })
  return notices
}

/** A link in the place of the folder leads to files of others. */
const topicsIn = (folder: string): string[] =>
  lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true ? namesIn(folder).slice(0, 2 * MAX_TOPICS) : []

const textAt = (path: string): string => (readIfFile(path, policy.runFileBytes) ?? '').trimEnd()

/** There is nothing to be told about it any more. */
export function dropNotice(folder: string, topic: string): void {
  try {
    rmSync(join(folder, topic), { force: true })
    rmdirSync(folder)
  } catch {
    // Others wait there, or somebody has just taken them all.
  }
}

function isMoved(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch {
    return false
  }
}
