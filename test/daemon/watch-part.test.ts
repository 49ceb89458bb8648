import { appendFileSync, type FSWatcher, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { openWatching, type Watching } from '../../src/daemon/parts/watch-part.ts'
import { policy } from '../../src/model/index.ts'
import { until } from '../real/lab.ts'

const watchers = vi.hoisted(() => [] as FSWatcher[])
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  const watch = (...args: Parameters<typeof fs.watch>): FSWatcher => {
    const watcher = fs.watch(...args)
    watchers.push(watcher)
    return watcher
  }
  return { ...fs, watch }
})

let folder: string
let live: Set<string>
let cgroups: Record<string, string>
let heard: string[]
let watching: Watching
let woken: number

beforeEach(() => {
  folder = join(realpathSync(mkdtempSync(join(tmpdir(), 'hf-watch-'))), 'runs')
  mkdirSync(folder)
  live = new Set()
  cgroups = {}
  heard = []
  watchers.length = 0
  woken = 0
  const worlds = {
    use: async () => ({ folder, live, cgroupOf: (run: string) => cgroups[run] ?? null }),
    users: () => 0,
  } as unknown as Daemon['worlds']
  watching = openWatching({ worlds, wake: () => void woken++ } as unknown as Daemon)
  watching.onRunFile((run, name) => void heard.push(`${run}/${name}`))
})
afterEach(async () => {
  await watching.part.close?.()
  rmSync(join(folder, '..'), { recursive: true, force: true })
})

const aRun = (id: string): void => {
  mkdirSync(join(folder, id))
  writeFileSync(join(folder, id, 'exit'), '')
  live.add(id)
}

test('a new run is watched once it is live, told as changed then, and forgotten when it is not', async () => {
  expect(await watching.part.round()).toEqual({ runs: 0, watches: 1, unwatched: 0 })
  aRun('a')
  await until('the new directory to be heard of', () => woken > 0)
  expect(await watching.part.round()).toEqual({ runs: 1, watches: 2, unwatched: 0 })
  expect(heard).toEqual(['a/'])
  writeFileSync(join(folder, 'a', 'exit'), '1')
  await until('the exit record to be heard of', () => heard.includes('a/exit'))
  live = new Set()
  expect(await watching.part.round()).toEqual({ runs: 0, watches: 1, unwatched: 0 })
})

test('its cgroup is watched as soon as it has one', async () => {
  aRun('a')
  await watching.part.round()
  const cgroup = join(folder, '..', 'cgroup')
  mkdirSync(cgroup)
  writeFileSync(join(cgroup, 'cgroup.events'), 'populated 1\n')
  const before = woken
  writeFileSync(join(folder, 'a', 'cgroup'), `${cgroup}\n`)
  await until('that to be heard of', () => woken > before)
  cgroups = { a: cgroup }
  expect(await watching.part.round()).toMatchObject({ watches: 3 })
  writeFileSync(join(cgroup, 'cgroup.events'), 'populated 0\n')
  await until('its end to be heard of', () => heard.includes('a/cgroup.events'))
})

test('an agent that writes all the time is heard of a few times, and its end all the same', async () => {
  aRun('a')
  await watching.part.round()
  for (let lines = 0; lines < policy.daemonLogEvents * 4; lines++) {
    appendFileSync(join(folder, 'a', 'log'), 'x\n')
    await new Promise((next) => setImmediate(next))
  }
  await until('it to be watched less', () => heard.filter((name) => name === 'a/').length === 2)
  expect(heard.filter((name) => name === 'a/log').length).toBeLessThanOrEqual(policy.daemonLogEvents)
  const before = heard.length
  appendFileSync(join(folder, 'a', 'log'), 'x\n')
  writeFileSync(join(folder, 'a', 'exit'), '1')
  await until('its end', () => heard.slice(before).includes('a/exit'))
  expect(heard.slice(before)).not.toContain('a/log')
  // The next round watches all of it again.
  expect(await watching.part.round()).toMatchObject({ watches: 2, unwatched: 0 })
  appendFileSync(join(folder, 'a', 'log'), 'x\n')
  await until('its log', () => heard.slice(before).includes('a/log'))
})

test('a home that was replaced is watched anew', async () => {
  aRun('a')
  await watching.part.round()
  renameSync(folder, `${folder}-old`)
  mkdirSync(folder)
  live = new Set()
  aRun('a')
  heard.length = 0
  expect(await watching.part.round()).toEqual({ runs: 1, watches: 2, unwatched: 0 })
  expect(heard).toEqual(['a/'])
  writeFileSync(join(folder, 'a', 'exit'), '1')
  await until('the exit record to be heard of', () => heard.includes('a/exit'))
})

test('what fails to be watched is watched anew with the next round, and takes no place until then', async () => {
  aRun('a')
  aRun('b')
  expect(await watching.part.round()).toEqual({ runs: 2, watches: 3, unwatched: 0 })
  for (const watcher of watchers.splice(0)) for (let times = 0; times < 2; times++) watcher.emit('error', new Error('EIO'))
  heard.length = 0
  expect(await watching.part.round()).toEqual({ runs: 2, watches: 3, unwatched: 0 })
  expect([...heard].sort()).toEqual(['a/', 'b/'])
  writeFileSync(join(folder, 'b', 'exit'), '1')
  await until('the exit record to be heard of', () => heard.includes('b/exit'))
})

test('beyond its bound it says so, and goes on', async () => {
  for (let index = 0; index < policy.daemonWatches + 3; index++) live.add(`r${index}`)
  for (const id of live) mkdirSync(join(folder, id))
  expect(await watching.part.round()).toEqual({ runs: live.size, watches: policy.daemonWatches, unwatched: 4 })
  expect(watching.part.trouble?.()).toContain(`4 of ${live.size} runs are only looked at every 5 s`)
  live = new Set(['r0', 'r1'])
  expect(await watching.part.round()).toEqual({ runs: 2, watches: 3, unwatched: 0 })
  expect(watching.part.trouble?.()).toBeNull()
})
