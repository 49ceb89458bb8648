import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { relationOf, standingOf } from '../../src/decide/index.ts'
import type { Relation } from '../../src/model/index.ts'
import { findDirectory } from '../../src/observe/directory.ts'
import { innerPath, mountedBelow, parseMounts } from '../../src/observe/mounts.ts'
import { branchOf, mainOf } from '../../src/observe/repository.ts'
import { verifies } from '../requirements.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'hf-dirs-')))
afterAll(() => rmSync(root, { recursive: true }))
let serial = 0
const folder = (...more: string[]): string => {
  const path = join(root, String(++serial), ...more)
  mkdirSync(path, { recursive: true })
  return path
}

function fileAt(name: string): string {
  writeFileSync(join(root, name), '')
  return join(root, name)
}

/** What git itself leaves: enough to tell whose worktree it is. */
function repository(path: string): void {
  for (const name of ['objects', 'refs', 'worktrees']) mkdirSync(join(path, '.git', name), { recursive: true })
  writeFileSync(join(path, '.git', 'HEAD'), 'ref: refs/heads/main\n')
}
function linkedWorktree(repo: string, path: string, name: string): void {
  const admin = join(repo, '.git', 'worktrees', name)
  mkdirSync(admin, { recursive: true })
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, '.git'), `gitdir: ${admin}\n`)
  writeFileSync(join(admin, 'commondir'), '../..\n')
  writeFileSync(join(admin, 'gitdir'), `${join(path, '.git')}\n`)
  writeFileSync(join(admin, 'HEAD'), `ref: refs/heads/${name}\n`)
}

describe('one directory, many names', () => {
  test('links, dots and slashes', () => {
    const real = folder('real', 'sub')
    symlinkSync('real', join(dirname(dirname(real)), 'link'))
    const names = [real, `${real}/`, `${real}/.`, `${real}/../sub`, join(dirname(dirname(real)), 'link', 'sub')]
    expect(new Set(names.map((name) => JSON.stringify(findDirectory(name)))).size).toBe(1)
  })
  verifies('lock-life', 'a number that is used again is told by the time of birth', () => {
    const path = folder('again')
    const first = findDirectory(path)
    rmdirSync(path)
    mkdirSync(path)
    const second = findDirectory(path)
    expect(second.key).not.toBe(first.key)
    expect(second.inner).toBe(first.inner)
  })
  test('neither a rename nor what is done in it changes what it is', () => {
    const path = folder('before')
    const first = findDirectory(path)
    writeFileSync(join(path, 'file'), '')
    const after = join(dirname(path), 'after')
    renameSync(path, after)
    expect(findDirectory(after).key).toBe(first.key)
  })
  test.each(['.git', '.git/worktrees', '.git/worktrees/x'])('%s belongs to git', (name) => {
    const repo = folder()
    repository(repo)
    mkdirSync(join(repo, name), { recursive: true })
    expect(() => findDirectory(join(repo, name))).toThrow(expect.objectContaining({ id: 'directory-of-git' }))
    symlinkSync(join(repo, name), join(repo, 'innocent'))
    expect(() => findDirectory(join(repo, 'innocent'))).toThrow(expect.objectContaining({ id: 'directory-of-git' }))
  })
  test('a folder of ours is an island: nothing above it counts', () => {
    const worktreesFolder = folder('worktrees')
    mkdirSync(join(worktreesFolder, 'one', 'src'), { recursive: true })
    const top = findDirectory(join(worktreesFolder, 'one'), worktreesFolder)
    const inner = findDirectory(join(worktreesFolder, 'one', 'src'), worktreesFolder)
    expect(top.above).toEqual([])
    expect(inner.above).toEqual([top.key, top.inner])
    expect(relationOf(inner, standingOf(top))).toBe('inside')
    expect(relationOf(inner, standingOf(findDirectory(dirname(worktreesFolder), worktreesFolder)))).toBeNull()
    expect(relationOf(findDirectory(root), standingOf(inner))).toBeNull()
  })
  test.each([
    ['no such', () => join(root, 'nope'), 'no such directory'],
    ['a file', () => fileAt('file'), 'is not a directory'],
    ['below a file', () => join(root, 'file', 'x'), 'no such directory'],
  ])('%s', (_what, path, message) => expect(() => findDirectory(path())).toThrow(message))
})

describe('repositories', () => {
  test('a main and a linked worktree have one common folder, tops of their own, and branches', () => {
    const repo = folder('repo')
    repository(repo)
    const linked = join(repo, '.claude', 'worktrees', 'x')
    linkedWorktree(repo, linked, 'x')
    const main = findDirectory(repo).repository
    const other = findDirectory(linked).repository
    expect(main?.common).toBe(other?.common)
    expect([main?.root, other?.root]).toEqual([repo, linked])
    expect([branchOf(repo), branchOf(linked), mainOf(linked), mainOf(repo)]).toEqual(['main', 'x', repo, repo])
  })
  test('a bare repository with its worktrees inside', () => {
    const bare = folder('proj')
    for (const name of ['objects', 'refs', 'worktrees/main']) mkdirSync(join(bare, name), { recursive: true })
    writeFileSync(join(bare, 'HEAD'), 'ref: refs/heads/main\n')
    mkdirSync(join(bare, 'main'))
    writeFileSync(join(bare, 'main', '.git'), 'gitdir: ../worktrees/main\n')
    writeFileSync(join(bare, 'worktrees', 'main', 'commondir'), '../..\n')
    writeFileSync(join(bare, 'worktrees', 'main', 'gitdir'), `${join(bare, 'main', '.git')}\n`)
    expect(relationOf(findDirectory(join(bare, 'main')), standingOf(findDirectory(bare)))).toBeNull()
    expect(findDirectory(join(bare, 'main')).repository?.root).toBe(join(bare, 'main'))
  })
  test('a folder that only claims to be a worktree is part of what it lies in', () => {
    const repo = folder('repo')
    repository(repo)
    linkedWorktree(repo, join(repo, 'x'), 'x')
    for (const [name, text] of [
      ['sub', `gitdir: ${join(repo, '.git')}\n`],
      ['copy', `gitdir: ${join(repo, '.git', 'worktrees', 'x')}\n`],
    ] as const) {
      mkdirSync(join(repo, name))
      writeFileSync(join(repo, name, '.git'), text)
      expect(relationOf(findDirectory(join(repo, name)), standingOf(findDirectory(repo))), name).toBe('inside')
    }
  })
  test.each(['', 'gitdir: /nonexistent\n', 'nonsense'])('a .git file that says %j is no repository', (text) => {
    const path = folder('odd')
    writeFileSync(join(path, '.git'), text)
    expect(findDirectory(path).repository).toBeNull()
  })
})

describe('mounts', () => {
  const table = parseMounts(
    [
      '27 1 254:0 / / rw - ext4 /dev/vda rw',
      '30 27 254:0 /data/b /mnt/a\\040b rw - ext4 /dev/vda rw',
      '31 27 0:9 / /mnt rw - tmpfs x rw',
      '32 27 254:0 /over /mnt/a\\040b rw - ext4 /dev/vda rw',
    ].join('\n'),
  )
  test.each([
    ['/', '/'],
    ['/home/x', '/home/x'],
    ['/mnt', '/'],
    ['/mnt/x', '/x'],
    ['/mnt/a b', '/over'],
    ['/mnt/a b/c', '/over/c'],
    ['/mnt/a bc', '/a bc'],
  ])('%s is %s within its file system', (path, inner) => expect(innerPath(path, table)).toBe(inner))
  test('what is mounted below is named by its inner place, with the number that stat gives', () => {
    expect(mountedBelow('/mnt', table)).toEqual(['65024@/data/b', '65024@/over'])
    expect(mountedBelow('/', table)).toHaveLength(3)
    expect(mountedBelow('/mnt/a b', table)).toEqual([])
    expect(parseMounts('1 1 259:300 / /x rw - ext4 x rw')).toEqual([
      { device: String((259 << 8) | ((300 & ~0xff) << 12) | (300 & 0xff)), root: '/', at: '/x' },
    ])
  })
  test('without a table a path is what it is', () => expect(innerPath('/a', [])).toBe('/a'))
})

/** Random trees with links and worktrees; what must come out follows from real paths alone. */
verifies('lock-life', 'the conflict rule holds in random trees of directories, links and worktrees', () => {
  const name = fc.constantFrom('a', 'b', 'bc', 'c')
  const place = fc.array(name, { minLength: 0, maxLength: 4 })
  const worlds = fc.record({
    folders: fc.array(place, { minLength: 3, maxLength: 8 }),
    links: fc.array(fc.tuple(place, place), { maxLength: 3 }),
    repository: fc.option(place, { nil: null }),
    worktrees: fc.array(place, { maxLength: 3 }),
    picks: fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 4, maxLength: 8 }),
  })
  fc.assert(
    fc.property(worlds, (world) => {
      const top = folder()
      const at = (parts: readonly string[]): string => join(top, ...parts)
      for (const parts of world.folders) mkdirSync(at(parts), { recursive: true })
      const tops: string[] = []
      if (world.repository !== null) {
        repository(at(world.repository))
        tops.push(at(world.repository))
        for (const [index, parts] of world.worktrees.entries()) {
          if (tops.includes(at(parts))) continue
          linkedWorktree(at(world.repository), at(parts), `w${index}`)
          tops.push(at(parts))
        }
      }
      const names = [...world.folders.map(at), ...tops]
      for (const [index, [from, to]] of world.links.entries()) {
        const link = join(at(from), `link${index}`)
        mkdirSync(at(from), { recursive: true })
        mkdirSync(at(to), { recursive: true })
        symlinkSync(at(to), link)
        names.push(link, join(link, '..', 'x', '..').replace(/\/x\/\.\.$/, ''))
      }
      for (const [one, other] of world.picks) {
        const wanted = names[one % names.length] as string
        const held = names[other % names.length] as string
        const found = relationOf(findDirectory(wanted), standingOf(findDirectory(held)))
        expect(found, `${wanted} and ${held}`).toBe(oracle(realpathSync(wanted), realpathSync(held), tops))
        const back: Record<Relation, Relation> = { same: 'same', inside: 'around', around: 'inside' }
        expect(relationOf(findDirectory(held), standingOf(findDirectory(wanted)))).toBe(found === null ? null : back[found])
      }
    }),
    { numRuns: 150 },
  )
})

function oracle(wanted: string, held: string, tops: readonly string[]): Relation | null {
  if (wanted === held) return 'same'
  const within = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`)
  const topOf = (path: string): string | undefined => tops.filter((top) => within(path, top)).toSorted((a, b) => b.length - a.length)[0]
  const [one, other] = [topOf(wanted), topOf(held)]
  if (one !== undefined && other !== undefined && one !== other) return null
  return within(wanted, held) ? 'inside' : within(held, wanted) ? 'around' : null
}
