import { randomBytes, randomUUID } from 'node:crypto'
import { closeSync, fstatSync, linkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bytesAt, createFile, openFile, wordsOf } from '../../lib/index.ts'
import { Problem } from '../../model/index.ts'

/** Where it lies, in the home. */
const TOKEN_FILE = 'daemon/token'
const TOKEN = /^[0-9a-f]{64}$/
const TOKEN_BYTES = 256
const TRIES = 3

/**
 * What proves to the daemon that somebody may read this home. Made once, and kept: those who were told it keep knowing it. Its folder is not made:
 * a home that was removed is not to come back by it.
 */
export function daemonToken(home: string): string {
  const path = join(home, TOKEN_FILE)
  for (let tries = 0; tries < TRIES; tries++) {
    const known = readToken(path)
    if (known !== null) return known
    makeToken(path)
  }
  throw new Problem('daemon-token-unusable', `${path} cannot be made: others are at it`, { hint: 'remove it, and the daemon makes another' })
}

/** Null: there is none that is worth anything. One that others could read is a secret no more. */
function readToken(path: string): string | null {
  let fd: number
  try {
    fd = openFile(path, 'read')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw trouble(path, error)
  }
  try {
    const { mode, uid } = fstatSync(fd)
    const text = bytesAt(fd, 0, TOKEN_BYTES).toString('latin1').trim()
    if ((mode & 0o077) === 0 && uid === process.geteuid?.() && TOKEN.test(text)) return text
  } finally {
    closeSync(fd)
  }
  rmSync(path, { force: true })
  return null
}

/** Whole before it has its name; whoever is first makes it. */
function makeToken(path: string): void {
  const temporary = `${path}.${process.pid}.${randomUUID()}`
  try {
    createFile(temporary, `${randomBytes(32).toString('hex')}\n`)
    linkSync(temporary, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw trouble(path, error)
  } finally {
    rmSync(temporary, { force: true })
  }
}

const trouble = (path: string, error: unknown): Problem =>
  new Problem('daemon-token-unusable', `the daemon's token ${path} cannot be used: ${wordsOf(error)}`, {
    hint: 'remove it, and the daemon makes another',
    cause: error,
  })
