import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { runFiles } from '../../keep/index.ts'
import { createFile, wordsOf } from '../../lib/index.ts'
import { Problem } from '../../model/index.ts'
import { inheritedVariable, networkFileSystem, ownMarker, ownProcess } from '../../observe/index.ts'
import { frontIn, markerIn } from '../world/front.ts'
import { findInstallId, type InstallId } from './install-id.ts'

/** `trouble`: why its file `install` cannot be used, although a run knew its id. */
export type Home = { readonly path: string; readonly install: string; readonly trouble: string | null }

/** `--home`, else HOLDFAST_HOME, else that of the run around us, else the state folder of the user. */
export function homePath(option: string | undefined, env: NodeJS.ProcessEnv): string {
  if (option !== undefined) return resolve(option)
  if (env['HOLDFAST_HOME']) return resolve(env['HOLDFAST_HOME'])
  // An environment that somebody gave us says all there is to say.
  const around = env === process.env ? homeAround(env) : null
  if (around !== null) return around
  const state = env['XDG_STATE_HOME']
  return join(state && isAbsolute(state) ? state : join(homedir(), '.local', 'state'), 'holdfast')
}

/** Some agents start their tools with an empty environment: what is in a run is in that run's home all the same. */
function homeAround(env: NodeJS.ProcessEnv): string | null {
  const marker = markerBeforeHome(env)
  const home = marker === null ? null : inheritedVariable('HOLDFAST_HOME', marker)
  return home !== null && isAbsolute(home) && existsSync(join(home, 'install')) ? home : null
}

/** The run marker that the caller was born with, as long as there is no home and no store: good enough to look for a run that carries it. */
function markerBeforeHome(env: NodeJS.ProcessEnv): number | null {
  const own = ownMarker()
  const front = frontIn(env, ownProcess, () => own)
  return front === null ? own : markerIn(front[4] ?? '')
}

/** What may lie in a home of ours before its install id does. */
const OURS = /^(runs|runs\.aside-.*|daemon|worktrees|workflows|origins|looks|hooks|tmux|tmux\.conf|install.*|seen.*|holdfast\.db.*|config\.toml)$/

/** Makes the home if it is missing, and refuses one that is not ours or not safe. */
export function openHome(named: string): Home {
  makeFolder(named, named)
  // What lies in it is compared with what the kernel says, which knows no links.
  const path = realpathSync(named)
  const stat = statSync(path)
  const uid = process.geteuid?.() ?? stat.uid
  const choose = 'choose another with --home or HOLDFAST_HOME'
  if (stat.uid !== uid)
    throw new Problem('home-foreign-user', `the home ${path} belongs to uid ${stat.uid}, and you are ${userName()} (uid ${uid})`, { hint: choose })
  const network = networkFileSystem(path)
  if (network !== null)
    throw new Problem('home-on-network', `the home ${path} is on ${network}, where the store's locks do not hold`, {
      hint: 'choose a local folder with --home or HOLDFAST_HOME',
    })
  // An agent of the same user may have shut it, which keeps nobody from ending that agent.
  if ((stat.mode & 0o500) !== 0o500) chmodSync(path, stat.mode | 0o700)
  const known = readInstall(path)
  if (known === null) {
    const stranger = readdirSync(path).find((name) => !OURS.test(name))
    if (stranger !== undefined) throw new Problem('home-not-holdfast', `${path} is not a Holdfast home: it holds ${stranger}`, { hint: choose })
  }
  if ((stat.mode & 0o077) !== 0) chmodSync(path, 0o700)
  moveAside(join(path, 'runs'))
  makeFolder(join(path, 'runs'), path)
  if (known === null) return { path, install: writeInstall(path, randomUUID()), trouble: null }
  return {
    path,
    install: known.id,
    trouble: known.trouble === null || isWritten(path, known.id) ? null : `${join(path, 'install')} cannot be used: ${known.trouble}`,
  }
}

/** What lies in the place of a folder of ours and is none would keep every agent alive. It stays whole, under another name. */
function moveAside(folder: string): void {
  if (isDirectory(folder) || lstatSync(folder, { throwIfNoEntry: false }) === undefined) return
  const aside = `${folder}.aside-${randomUUID()}`
  try {
    renameSync(folder, aside)
    // Somebody else was first, and the folder is there by now.
    if (isDirectory(aside)) renameSync(aside, folder)
  } catch {
    // Then it cannot be made either, which is told.
  }
}

/** Each missing folder in turn. (The recursive mkdir of Node never comes back where the kernel says ENOENT although the parent is there.) */
function makeFolder(folder: string, home: string): void {
  if (isDirectory(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) makeFolder(parent, home)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Somebody else may have made it just now.
    if (isDirectory(folder)) return
    throw new Problem('home-unusable', `cannot make the home ${home}: ${(error as NodeJS.ErrnoException).code}`, {
      hint: 'choose another with --home or HOLDFAST_HOME',
      cause: error,
    })
  }
}

function readInstall(home: string): InstallId | null {
  try {
    return findInstallId(home, () => runFiles(home).runRecords)
  } catch (error) {
    if (error instanceof Problem) throw error
    throw new Problem('home-unusable', `cannot read ${join(home, 'install')}: ${wordsOf(error)}`, {
      hint: 'make it readable, or move it away: the next command makes another, and running agents can be stopped as before',
      cause: error,
    })
  }
}

/** For an id that only runs knew. What lies in the place of the file stays, and a home that takes no writing is as good. */
function isWritten(home: string, id: string): boolean {
  try {
    return writeInstall(home, id) === id
  } catch {
    return false
  }
}

/** Random, written once: the same home on the same machine is the same install. */
function writeInstall(home: string, id: string): string {
  const path = join(home, 'install')
  const temporary = `${path}.${process.pid}.${randomUUID()}`
  try {
    createFile(temporary, `${id}\n`)
    try {
      linkSync(temporary, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    return findInstallId(home, () => ({ list: () => [], read: () => null }))?.id ?? id
  } catch (error) {
    throw new Problem('home-unusable', `cannot write ${path}: ${wordsOf(error)}`, {
      hint: 'free space or make the home writable',
      cause: error,
    })
  } finally {
    rmSync(temporary, { force: true })
  }
}

export const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    return String(process.geteuid?.() ?? 'unknown')
  }
}

const isDirectory = (path: string): boolean => {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
