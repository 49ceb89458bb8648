import { mkdir, mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createFile } from '../../lib/index.ts'
import type { Environment } from '../../model/index.ts'
import { type Answer, runGit, STILL } from './git.ts'
import type { Seat } from './seat.ts'

/** `folder`: where looks have their private folders, a moment each. */
export type Site = { readonly env: Environment; readonly folder: string }

/** Git for looking at a worktree. It executes nothing but git itself: decision 029. `more`: variables for this one call. */
export type Look = (args: readonly string[], more?: Environment) => Promise<Answer>

/** Where a comparison keeps the objects that it makes: none of them comes into the repository. */
export const NEW_OBJECTS = 'new'

/** What a repository shares among its worktrees, and is only data. Neither `config` nor `hooks` is among it. */
const DATA = ['objects', 'refs', 'packed-refs', 'reftable', 'info', 'shallow']

/** Settings that are only data. No other setting of a repository or a person reaches a look, so none can name a program. */
const SETTINGS =
  /^core\.(?:autocrlf|eol|excludesfile|attributesfile|filemode|ignorecase|precomposeunicode|sparsecheckout|sparsecheckoutcone|symlinks)$/
const FORMATS: Readonly<Record<string, RegExp>> = {
  'extensions.objectformat': /^sha(?:1|256)$/,
  'extensions.refstorage': /^(?:files|reftable)$/,
}

/**
 * A filter cannot be turned off: git has no flag for it, and names of filters can change under a list of them. So git reads a configuration of
 * ours in the place of the repository's: a private folder with links to the data. Objects, index and files are the true ones.
 */
export async function lookAt<T>(
  { env, folder }: Site,
  path: string,
  seat: Seat,
  body: (git: Look, folder: string) => Promise<T>,
): Promise<T | { readonly trouble: string }> {
  const settings = await settingsOf(env, seat)
  if (typeof settings === 'string') return { trouble: settings }
  await sweep(folder)
  const room = await makeRoom(folder, seat, settings)
  if (typeof room === 'string') return { trouble: room }
  // A home of its own: older releases of git know no other way to leave out the person's configuration.
  const own = {
    ...STILL,
    ...led(seat),
    GIT_COMMON_DIR: room.folder,
    GIT_WORK_TREE: path,
    GIT_CONFIG_NOSYSTEM: '1',
    HOME: room.folder,
    XDG_CONFIG_HOME: room.folder,
  }
  try {
    return await body(
      (args, more) => runGit(env, { ...own, ...more }, ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', ...args]),
      room.folder,
    )
  } finally {
    await rm(room.folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  }
}

const led = ({ own }: Seat): Environment => ({ GIT_DIR: own })

/** Settings are read by git, which runs nothing for that. The last one counts. */
async function settingsOf(env: Environment, seat: Seat): Promise<ReadonlyMap<string, string> | string> {
  const answer = await runGit(env, { ...STILL, ...led(seat) }, ['config', '--includes', '-z', '--get-regexp', '^(core|extensions)\\.'])
  if (answer.kind === 'failed' && answer.code !== 1) return answer.why
  const all = new Map(defaults(env))
  for (const entry of answer.kind === 'done' ? answer.out.split('\0') : []) {
    const at = entry.indexOf('\n')
    const [name, value] = at < 0 ? [entry, 'true'] : [entry.slice(0, at), entry.slice(at + 1)]
    const format = FORMATS[name]
    if (format?.test(value) === false) return `its ${name} is '${value}', which Holdfast does not know`
    if (format !== undefined || SETTINGS.test(name)) all.set(name, value.startsWith('~/') ? join(env['HOME'] ?? '/', value.slice(2)) : value)
  }
  return all
}

/** Where git would look by itself, had it the person's home. */
function defaults(env: Environment): [string, string][] {
  const folder = env['XDG_CONFIG_HOME'] || (env['HOME'] ? join(env['HOME'], '.config') : undefined)
  return folder === undefined
    ? []
    : [
        ['core.excludesfile', join(folder, 'git/ignore')],
        ['core.attributesfile', join(folder, 'git/attributes')],
      ]
}

/** A look that was killed leaves its folder. No look lasts so long; one that was frozen finds no repository any more, and so proves nothing. */
const MAX_LOOK_MS = 600_000
async function sweep(parent: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    const there = await stat(join(parent, name)).catch(() => null)
    if (there !== null && Date.now() - there.mtimeMs > MAX_LOOK_MS) await rm(join(parent, name), { recursive: true, force: true }).catch(() => {})
  }
}

async function makeRoom(parent: string, { common }: Seat, settings: ReadonlyMap<string, string>): Promise<{ readonly folder: string } | string> {
  let folder: string | null = null
  try {
    await mkdir(parent, { mode: 0o700, recursive: true })
    folder = await mkdtemp(join(parent, 'look-'))
    await mkdir(join(folder, NEW_OBJECTS))
    for (const name of DATA) await symlink(join(common, name), join(folder, name))
    const version = [...settings.keys()].some((name) => name in FORMATS) ? '1' : '0'
    const lines = [['core.repositoryformatversion', version] as const, ...settings].map(([name, value]) => lineOf(name, value))
    createFile(join(folder, 'config'), lines.join(''))
    return { folder }
  } catch (error) {
    if (folder !== null) await rm(folder, { recursive: true, force: true }).catch(() => {})
    return `no folder for a look could be made: ${(error as Error).message}`
  }
}

/** As git reads it: a section for each, and its value in quotes. */
function lineOf(name: string, value: string): string {
  const [section = '', key = ''] = name.split('.')
  return `[${section}]\n\t${key} = "${value.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"\n`
}
