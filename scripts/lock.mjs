// Completes package-lock.json after `npm install` from a registry that has only this platform's parts of native packages: `npm ci` insists
// that the lock names every optional part. Versions are those that the packages pin; platforms are read off the names.
import { readFileSync, writeFileSync } from 'node:fs'

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const OS = ['android', 'darwin', 'linux', 'win32', 'freebsd', 'openharmony', 'netbsd', 'openbsd', 'sunos', 'aix']
const CPU = ['arm64', 'x64', 'ia32', 'arm', 'ppc64', 'riscv64', 's390x', 'loong64', 'mips64el', 'wasm32']

const platform = (name) => {
  const words = name.split(/[-/]/)
  const find = (list) => list.filter((word) => words.includes(word))
  const libc = /musl/.test(name) ? ['musl'] : /gnu/.test(name) ? ['glibc'] : []
  return { cpu: find(CPU), os: find(OS), libc }
}

let added = 0
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const at = `node_modules/${name}`
    const { cpu, os, libc } = platform(name)
    if (path === '' || lock.packages[at] !== undefined || cpu.length + os.length === 0) continue
    lock.packages[at] = {
      version,
      ...(cpu.length > 0 ? { cpu } : {}),
      ...(entry.dev ? { dev: true } : {}),
      ...(libc.length > 0 ? { libc } : {}),
      optional: true,
      ...(os.length > 0 ? { os } : {}),
    }
    added++
  }
}
const [first, ...rest] = Object.entries(lock.packages)
lock.packages = Object.fromEntries([first, ...rest.toSorted(([a], [b]) => (a < b ? -1 : 1))])
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${added} parts for other platforms added`)
