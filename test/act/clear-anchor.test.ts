import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { type AnchorPorts, clearAnchor } from '../../src/act/index.ts'
import { stampOf } from '../../src/harness/index.ts'
import { foreignFiles } from '../../src/keep/index.ts'
import type { Anchor, AnchorVerdict } from '../../src/model/index.ts'
import { verifies } from '../requirements.ts'

const PATHS = ['/s/1.json', '/s/2.json'] as const
type Path = (typeof PATHS)[number]

/** What may happen between any two steps of somebody who reaps. An agent is born with the pid that a path names, and writes there. */
type Happening = { readonly what: 'birth' | 'death' | 'write' | 'rewrite' | 'leave' | 'reap'; readonly path: Path }

type File = { readonly inode: number; readonly by: number }

/** A folder and its processes, in which something may happen at every step. A file says by whom it was written; the dead are those who are not there. */
function world(script: readonly Happening[]) {
  const disk = new Map<string, File>()
  const alive = new Map<string, number>()
  const wrote = new Set<string>()
  let serial = 1
  let at = 0
  let depth = 0
  let removals = 0
  const happen = ({ what, path }: Happening): void => {
    const agent = alive.get(path)
    if (what === 'birth' && agent === undefined) alive.set(path, ++serial)
    if (what === 'death') {
      alive.delete(path)
      wrote.delete(path)
    }
    if (agent !== undefined && (what === 'write' || what === 'rewrite')) {
      // In place, or by a rename.
      disk.set(path, { inode: what === 'rewrite' ? (disk.get(path)?.inode ?? ++serial) : ++serial, by: agent })
      wrote.add(path)
    }
    if (agent !== undefined && what === 'leave') {
      disk.delete(path)
      alive.delete(path)
      wrote.delete(path)
    }
    if (what === 'reap' && depth < 2) reap()
  }
  const step = <T>(action: () => T): T => {
    const next = script[at]
    if (next !== undefined) {
      at++
      happen(next)
    }
    return action()
  }
  const stamp = (path: string): string | null => {
    const file = disk.get(path)
    return file === undefined ? null : `${file.inode}:${file.by}`
  }
  const read = (path: string): Anchor | null => {
    const file = disk.get(path)
    if (file === undefined) return null
    const says = { kind: 'process', pid: 1, ticks: file.by, bootId: null, machine: null, pidNamespace: 'p', flock: 'none' } as const
    return { harness: 'claude', nativeId: null, path, files: [{ path, stamp: stamp(path) ?? '' }], says }
  }
  const judge = ({ path, says }: Anchor): AnchorVerdict => {
    const by = says.kind === 'process' ? says.ticks : null
    return alive.get(path) === by ? { kind: 'alive', why: 'it lives' } : { kind: 'dead', why: 'it is gone' }
  }
  const hands: AnchorPorts = {
    read: ({ path }) => step(() => read(path)),
    judge: (anchor) => step(() => judge(anchor)),
    stampOf: (path) => step(() => stamp(path)),
    files: {
      aside: (path) => `${path}.aside-${++serial}`,
      rename: (from, to) =>
        step(() => {
          const file = disk.get(from)
          if (file === undefined) return 'ENOENT'
          disk.delete(from)
          disk.set(to, file)
          return null
        }),
      link: (from, to) =>
        step(() => {
          const file = disk.get(from)
          if (file === undefined) return 'ENOENT'
          if (disk.has(to)) return 'EEXIST'
          disk.set(to, file)
          return null
        }),
      remove: (path) => step(() => (disk.delete(path) ? null : 'ENOENT')),
    },
  }
  const reap = (): void => {
    depth++
    const found = PATHS.flatMap((path) => step(() => read(path)) ?? [])
    for (const anchor of found) if (hands.judge(anchor).kind === 'dead' && clearAnchor(anchor, hands) === null) removals++
    depth--
  }
  /** A file that a dead process left before anything began. */
  for (const path of PATHS) disk.set(path, { inode: ++serial, by: ++serial })
  /** What is left of the script happens, and after that nothing. */
  const rest = (): void => {
    const left = script.slice(at)
    at = script.length
    left.forEach(happen)
  }
  return { disk, alive, wrote, reap, rest, removals: () => removals }
}

const happenings: fc.Arbitrary<Happening[]> = fc.array(
  fc.record({ what: fc.constantFrom('birth', 'birth', 'death', 'write', 'write', 'rewrite', 'leave', 'reap'), path: fc.constantFrom(...PATHS) }),
  { maxLength: 40 },
)

verifies(
  'unknown',
  'whatever happens between the steps of two who reap, what a living agent wrote is there in the end, and nothing is left aside',
  () => {
    fc.assert(
      fc.property(happenings, (script) => {
        const { disk, alive, wrote, reap, rest } = world(script)
        reap()
        rest()
        for (const path of wrote) expect(disk.get(path)?.by).toBe(alive.get(path))
        expect([...disk.keys()].filter((path) => path.includes('aside'))).toEqual([])
        // And when nothing happens any more, all that the dead left goes, once.
        reap()
        for (const [path, { by }] of disk) expect(by).toBe(alive.get(path))
        const before = new Map(disk)
        reap()
        expect(disk).toEqual(before)
      }),
      { numRuns: 20_000 },
    )
  },
)

test('two who reap one after the other remove a thing once', () => {
  const { reap, removals, disk } = world([])
  reap()
  expect([removals(), disk.size]).toEqual([2, 0])
  reap()
  expect(removals()).toBe(2)
})

/** The same on a disk. */
function onDisk(): { path: string; folder: string; anchor: () => Anchor; hands: AnchorPorts } {
  const folder = mkdtempSync(join(tmpdir(), 'hf-anchor-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, '12.json')
  writeFileSync(path, 'old')
  const anchor = (): Anchor => ({
    harness: 'claude',
    nativeId: null,
    path,
    files: [{ path, stamp: stampOf(path) ?? expect.unreachable() }],
    says: { kind: 'malformed', why: '' },
  })
  return { path, folder, anchor, hands: { read: anchor, judge: () => ({ kind: 'dead', why: '' }), stampOf, files: foreignFiles } }
}

test('what was judged goes, and nothing beside it', () => {
  const { folder, anchor, hands } = onDisk()
  writeFileSync(join(folder, '12.key'), 'secret')
  expect(clearAnchor(anchor(), hands)).toBe(null)
  expect(readdirSync(folder)).toEqual(['12.key'])
})

test('what came in its place at the last moment is put back as it was, in place or by a rename', () => {
  for (const replace of [
    (path: string) => writeFileSync(path, 'new'),
    (path: string) => {
      writeFileSync(`${path}.tmp`, 'new')
      renameSync(`${path}.tmp`, path)
    },
  ]) {
    const { path, folder, anchor, hands } = onDisk()
    const files = {
      ...hands.files,
      rename: (from: string, to: string) => {
        replace(path)
        return hands.files.rename(from, to)
      },
    }
    expect(clearAnchor(anchor(), { ...hands, files })).toBe('it changed while we looked')
    expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['12.json'], 'new'])
  }
})

test('what is written while the old one lies aside is the one that stays', () => {
  const { path, folder, anchor, hands } = onDisk()
  const seen = anchor()
  let looks = 0
  const judge = (): AnchorVerdict => {
    if (++looks < 2) return { kind: 'dead', why: '' }
    writeFileSync(path, 'new')
    return { kind: 'alive', why: '' }
  }
  expect(clearAnchor(seen, { ...hands, judge })).toBe('it changed while we looked')
  expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['12.json'], 'new'])
})

test('what changed since it was listed, is gone, lives, or is the session itself, stays or is gone by another hand', () => {
  const { path, anchor, hands } = onDisk()
  const listed = anchor()
  expect(clearAnchor({ ...listed, files: [] }, hands)).toContain('it is the session itself')
  expect(clearAnchor(listed, { ...hands, judge: () => ({ kind: 'alive', why: 'it lives' }) })).toBe('it lives')
  writeFileSync(path, 'other')
  expect(clearAnchor(listed, hands)).toBe('it changed while we looked')
  const again = anchor()
  rmSync(path)
  expect(clearAnchor(again, { ...hands, read: () => again })).toBe('somebody else removed it')
  expect(clearAnchor(again, { ...hands, read: () => null })).toBe('somebody else removed it')
})
