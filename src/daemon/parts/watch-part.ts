import { type FSWatcher, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { runsToWatch, type ToWatch } from '../../app/index.ts'
import { policy } from '../../model/index.ts'
import type { Daemon } from '../daemon.ts'
import type { Part } from '../frame/loop.ts'

/** A file in the directory of a live run has changed; or something that is not in it: its `cgroup.events`, or (`''`) nobody knows what, so look. */
export type RunFileListener = (run: string, name: string) => void

export type Watching = { readonly part: Part; onRunFile(listener: RunFileListener): void }

type Watched = { directory: FSWatcher | null; exit: FSWatcher | null; cgroup: FSWatcher | null; logged: number }

/**
 * Hears of what happens to live runs. It is only ever sooner than the pace of those who look: what cannot be watched is looked at all the same.
 * Whatever is watched anew is told as changed: what happened before would be heard by nobody.
 */
export function openWatching(daemon: Daemon): Watching {
  const listeners: RunFileListener[] = []
  const runs = new Map<string, Watched>()
  let root: { readonly inode: string; readonly watcher: FSWatcher } | null = null
  let refused: string | null = null
  let unwatched = 0
  let watches = 0
  let soon: NodeJS.Timeout | null = null
  const toCap = new Set<string>()
  let capping: NodeJS.Timeout | null = null

  const tell = (run: string, name: string): void => {
    for (const listener of listeners) listener(run, name)
  }
  /** What has to be watched may have changed. */
  const lookSoon = (): void => {
    soon ??= setTimeout(() => {
      soon = null
      daemon.wake('watch')
    }, policy.daemonHearMs).unref()
  }
  const disarm = (watcher: FSWatcher | null): null => {
    if (watcher !== null) watches--
    watcher?.close()
    return null
  }

  /** Null: it cannot be watched, and why is known. One that is not there any more needs no watching. */
  function arm(path: string, heard: (name: string) => void): FSWatcher | null {
    if (watches >= policy.daemonWatches) {
      refused = `it watches ${policy.daemonWatches} files and folders already`
      return null
    }
    try {
      const watcher = watch(path, { persistent: false }, (_, name) => heard(name ?? ''))
      watcher.on('error', () => lose(watcher))
      watches++
      return watcher
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT') refused = `${path} cannot be watched: ${code}${code === 'ENOSPC' ? ' (fs.inotify.max_user_watches)' : ''}`
      return null
    }
  }

  /** Until the next round watches it anew, it is not heard of; those who look at their own pace will see. */
  function lose(watcher: FSWatcher): void {
    if (root?.watcher === watcher) root = disarm(watcher)
    for (const known of runs.values()) for (const part of PARTS) if (known[part] === watcher) known[part] = disarm(watcher)
  }

  function watchRoot(folder: string): void {
    const { dev, ino } = statSync(folder)
    const inode = `${dev}:${ino}`
    if (root?.inode === inode) return
    // The home was replaced: nothing that is watched by its old paths is what it was.
    for (const run of runs.keys()) forget(run)
    disarm(root?.watcher ?? null)
    const watcher = arm(folder, lookSoon)
    root = watcher === null ? null : { inode, watcher }
  }

  function watchRun(id: string, folder: string, cgroupOf: ToWatch['cgroupOf']): void {
    const known = runs.get(id) ?? { directory: null, exit: null, cgroup: null, logged: 0 }
    const before = partsOf(known).length
    runs.set(id, known)
    known.logged = 0
    known.directory ??= arm(folder, (name) => heardIn(id, folder, name))
    if (known.directory === null) unwatched++
    else known.exit = disarm(known.exit)
    const cgroup = known.cgroup === null ? cgroupOf(id) : null
    known.cgroup ??= cgroup === null ? null : arm(join(cgroup, 'cgroup.events'), () => tell(id, 'cgroup.events'))
    if (partsOf(known).length > before) tell(id, '')
  }

  function heardIn(id: string, folder: string, name: string): void {
    const known = runs.get(id)
    if (name === 'cgroup') lookSoon()
    if (name === 'log' && known !== undefined) capSoon(id)
    // An agent that talks all the time would keep us busy: until the next round only how it ends is heard.
    if (name === 'log' && known !== undefined && ++known.logged > policy.daemonLogEvents) {
      known.exit ??= arm(join(folder, 'exit'), () => tell(id, 'exit'))
      known.directory = disarm(known.directory)
      tell(id, '')
    } else tell(id, name)
  }

  /** A log may grow by much between two rounds. While it is watched less, it is looked at in this way until it is watched again. */
  function capSoon(id: string): void {
    toCap.add(id)
    capping ??= setTimeout(() => {
      capping = null
      const due = [...toCap]
      toCap.clear()
      for (const run of due) {
        // What goes wrong with it is told by who looks at all runs.
        daemon.worlds.use(async ({ runLogs }) => runLogs.cap(run)).catch(() => {})
        if (runs.get(run)?.directory === null) capSoon(run)
      }
    }, policy.daemonCapMs).unref()
  }

  function forget(id: string): void {
    toCap.delete(id)
    for (const watcher of partsOf(runs.get(id))) disarm(watcher)
    runs.delete(id)
  }

  return {
    onRunFile: (listener) => void listeners.push(listener),
    part: {
      name: 'watch',
      everyMs: policy.daemonWatchMs,
      // After the adoption, which needs no watching.
      afterMs: policy.daemonHearMs,
      async round() {
        refused = null
        unwatched = 0
        const { folder, live, cgroupOf } = await daemon.worlds.use(runsToWatch)
        watchRoot(folder)
        for (const id of runs.keys()) if (!live.has(id)) forget(id)
        for (const id of live) watchRun(id, join(folder, id), cgroupOf)
        return { runs: runs.size, watches, unwatched }
      },
      trouble: () =>
        refused === null ? null : `${refused}; ${unwatched} of ${runs.size} runs are only looked at every ${policy.daemonPaceMs / 1000} s`,
      async close() {
        clearTimeout(soon ?? undefined)
        clearTimeout(capping ?? undefined)
        root = disarm(root?.watcher ?? null)
        for (const id of runs.keys()) forget(id)
      },
    },
  }
}

const PARTS = ['directory', 'exit', 'cgroup'] as const
const partsOf = (watched: Watched | undefined): FSWatcher[] => PARTS.flatMap((part) => watched?.[part] ?? [])
