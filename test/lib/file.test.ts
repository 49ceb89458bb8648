import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  createFile,
  FileTrouble,
  openFile,
  otherThanFile,
  readCgroupFile,
  readFile,
  readIfFile,
  readKernel,
  readKernelFile,
  replaceFile,
  withFile,
  writeAll,
  writeCgroupFile,
} from '../../src/lib/index.ts'

const root = mkdtempSync(join(tmpdir(), 'hf-file-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const at = (name: string): string => join(root, name)
const fifo = (name: string): string => {
  expect(spawnSync('mkfifo', [at(name)]).status).toBe(0)
  return at(name)
}
const MOST = 64 * 1024
const why = (use: () => unknown): string => {
  try {
    use()
  } catch (error) {
    return error instanceof FileTrouble ? error.why : String(error)
  }
  return 'nothing'
}

writeFileSync(at('plain'), 'words')
const pipe = fifo('pipe')
mkdirSync(at('folder'))
symlinkSync('plain', at('link'))
symlinkSync('loop', at('loop'))
symlinkSync('/dev/zero', at('zero'))
symlinkSync('/proc/self/environ', at('environ'))
symlinkSync('pipe', at('to-pipe'))
writeFileSync(at('huge'), '')
truncateSync(at('huge'), 2 ** 30)

test('whatever lies in the place of a file is named at once, and never opened for long', () => {
  const others = { pipe: 'is a FIFO', folder: 'is a directory', link: 'is a symbolic link', loop: 'is a symbolic link', zero: 'is a symbolic link' }
  for (const [name, words] of Object.entries(others)) {
    for (const use of ['read', 'append', 'change'] as const)
      expect(
        why(() => openFile(at(name), use)),
        `${name} ${use}`,
      ).toBe(words)
    expect(otherThanFile(at(name), MOST), name).toBe(words)
    expect(readIfFile(at(name), MOST), name).toBe(null)
  }
  expect(why(() => readFile(at('huge'), MOST))).toBe('is larger than 64 KB')
  expect(otherThanFile(at('huge'), MOST)).toBe('is larger than 64 KB')
  expect(why(() => readFile(at('missing'), MOST))).toBe('cannot be opened (ENOENT)')
  expect([otherThanFile(at('missing'), MOST), otherThanFile(at('plain'), MOST)]).toEqual([null, null])
  expect(readFile(at('plain'), MOST)).toBe('words')
})

test('a socket is named', async () => {
  const server = createServer().listen(at('socket'))
  await new Promise((ready) => server.once('listening', ready))
  for (const use of ['read', 'append', 'change'] as const) expect(why(() => openFile(at('socket'), use))).toBe('is a socket')
  server.close()
})

test('links of people are followed to plain files, and to nothing else', () => {
  expect(readFile(at('link'), MOST, 'followed')).toBe('words')
  expect(why(() => readFile(at('zero'), MOST, 'followed'))).toBe('is a device')
  expect(why(() => readFile(at('to-pipe'), MOST, 'followed'))).toBe('is a FIFO')
  expect(why(() => readFile(at('environ'), MOST, 'followed'))).toMatch(/^leads to \/proc\/\d+\/environ$/)
  expect(why(() => readFile(at('loop'), MOST, 'followed'))).toMatch(/^is a symbolic link$/)
})

test('a bound is exact, whatever a file says of its size', () => {
  writeFileSync(at('just'), 'x'.repeat(MOST))
  expect(readFile(at('just'), MOST)).toHaveLength(MOST)
  expect(readIfFile(at('just'), MOST - 1)).toBe(null)
  writeFileSync(at('empty'), '')
  expect(readFile(at('empty'), MOST)).toBe('')
})

test("what may not be read is told with the kernel's code", () => {
  writeFileSync(at('shut'), 'x')
  chmodSync(at('shut'), 0)
  const said = why(() => readFile(at('shut'), MOST))
  expect(said).toBe(process.getuid?.() === 0 ? 'nothing' : 'cannot be opened (EACCES)')
})

test('a new file is never written over what is there, and a whole one replaces it but for a folder', () => {
  for (const name of ['plain', 'pipe', 'link', 'folder'])
    expect(
      why(() => createFile(at(name), 'x')),
      name,
    ).not.toBe('nothing')
  expect(readFileSync(at('plain'), 'utf8')).toBe('words')
  const [one, two] = [fifo('replaced'), at('linked')]
  symlinkSync('plain', two)
  for (const path of [one, two]) {
    replaceFile(path, 'mine')
    expect(readFile(path, MOST)).toBe('mine')
  }
  // Somebody knows under which name it is written.
  const waiting = fifo(`three.${process.pid}`)
  replaceFile(at('three'), 'mine')
  expect([readFile(at('three'), MOST), otherThanFile(waiting, MOST)]).toEqual(['mine', null])
  expect(readFileSync(at('plain'), 'utf8')).toBe('words')
  expect(() => replaceFile(at('folder'), 'x')).toThrow(/EISDIR|ENOTEMPTY/)
})

test('what is appended is all there', () => {
  withFile(at('lines'), 'append', (fd) => writeAll(fd, 'one\n'))
  withFile(at('lines'), 'append', (fd) => writeAll(fd, 'two\n'))
  expect(readFile(at('lines'), MOST)).toBe('one\ntwo\n')
})

test('a file that another program has leased is not waited for', async () => {
  writeFileSync(at('leased'), 'x')
  const script =
    'import fcntl,os,signal,sys\nsignal.signal(signal.SIGIO,signal.SIG_IGN)\nfd=os.open(sys.argv[1],os.O_RDWR)\nfcntl.fcntl(fd,fcntl.F_SETLEASE,fcntl.F_WRLCK)\nprint(1,flush=True)\nsys.stdin.read()'
  const holder = spawn('python3', ['-c', script, at('leased')], { stdio: ['pipe', 'pipe', 'inherit'] })
  const isHeld = await new Promise<boolean>((done) => {
    holder.once('error', () => done(false))
    holder.once('exit', () => done(false))
    holder.stdout.once('data', () => done(true))
  })
  if (!isHeld) return console.warn('SKIP: no python3 here, or no leases')
  expect(why(() => openFile(at('leased'), 'read'))).toBe('is held by a lease of another program')
  const over = new Promise((done) => holder.once('exit', done))
  holder.stdin.end()
  await over
})

test('files of the kernel are read by a way of their own, and nothing else by that', () => {
  expect(readKernel('/proc/self/stat')).toMatch(/^\d+ /)
  expect(() => readKernelFile(pipe)).toThrow(/no file of the kernel/)
  mkdirSync(at('cgroup'))
  fifo('cgroup/cgroup.procs')
  writeFileSync(at('cgroup/cgroup.kill'), 'x')
  expect(() => readCgroupFile(at('cgroup'), 'cgroup.procs')).toThrow(/is no cgroup/)
  expect(() => writeCgroupFile(at('cgroup'), 'cgroup.kill', '1')).toThrow(/is no cgroup/)
  expect(readFileSync(at('cgroup/cgroup.kill'), 'utf8')).toBe('x')
})
