import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { codeOf, sources } from './sources.ts'

/** Who may import whom (design §9). A room that is not here does not exist. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  model: [],
  lib: [],
  decide: ['model'],
  show: ['model'],
  observe: ['model', 'lib'],
  record: ['model', 'lib'],
  keep: ['model', 'lib'],
  harness: ['model', 'lib'],
  source: ['model', 'lib'],
  act: ['model', 'decide'],
  app: ['model', 'lib', 'decide', 'show', 'observe', 'record', 'keep', 'harness', 'source', 'act'],
  library: ['app', 'show', 'model'],
  cli: ['app', 'show', 'model'],
  mcp: ['app', 'show', 'model'],
  http: ['app', 'show', 'model'],
  daemon: ['app', 'decide', 'show', 'http', 'model'],
}
const PURE = ['model', 'decide', 'show']
/** A package lives in one room; a new one needs a decision page. */
const PACKAGES: Readonly<Record<string, string>> = { 'smol-toml': 'app', '@photostructure/sqlite': 'record' }
/** These are only in a bundle, and nobody who installs Holdfast gets them a second time. */
const BUNDLED: Readonly<Record<string, string>> = {
  '@modelcontextprotocol/server': 'mcp',
  zod: 'mcp',
  hono: 'http',
  '@hono/node-server': 'http',
  yaml: 'keep',
  liquidjs: 'keep',
}
/** `shims.ts` is put in the place of a part of the SDK by the build, and `pages.ts` is for `npm run docs`. */
const ENTRANCES = [
  'cli/main.ts',
  'cli/hook-main.ts',
  'cli/help/index.ts',
  'cli/help/pages.ts',
  'library/index.ts',
  'mcp/index.ts',
  'mcp/shims.ts',
  'daemon/index.ts',
  'keep/workflow/bundle.ts',
]
const MAX_LINES = 250

const packageOf = (specifier: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? ''
const all = sources()
const roomOfImport = (from: string, specifier: string): string => normalize(join(dirname(from), specifier)).split('/')[0] ?? ''

test('every file is in a room', () => {
  expect(all.filter(({ room }) => ALLOWED[room] === undefined).map(({ path }) => path)).toEqual([])
})

test('rooms import only what they may, and other rooms through their entrance', () => {
  const wrong = all.flatMap(({ path, room, imports }) =>
    imports
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => ({ specifier, target: roomOfImport(path, specifier) }))
      .filter(({ specifier, target }) => target !== room && (!ALLOWED[room]?.includes(target) || !specifier.endsWith(`/${target}/index.ts`)))
      .map(({ specifier }) => `${path} imports ${specifier}`),
  )
  expect(wrong).toEqual([])
})

test('pure rooms have no node:, clock, dice, processes or waiting', () => {
  const forbidden =
    /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\b|\bprocess\.|\bsetTimeout\b|\basync\b|\bawait\b|\bcrypto\b|\brequire\b/
  const wrong = all
    .filter(({ room }) => PURE.includes(room))
    .flatMap(({ path, text, imports }) => [
      ...imports
        .filter((specifier) => specifier.startsWith('node:') || builtinModules.includes(specifier))
        .map((specifier) => `${path}: ${specifier}`),
      ...(forbidden.exec(codeOf(text)) ?? []).map((word) => `${path}: ${word}`),
    ])
  expect(wrong).toEqual([])
})

test('packages stay in their room', () => {
  const wrong = all.flatMap(({ path, room, imports }) =>
    imports
      .filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
      .filter((specifier) => ({ ...PACKAGES, ...BUNDLED })[packageOf(specifier)] !== room)
      .map((specifier) => `${path}: ${specifier}`),
  )
  expect(wrong).toEqual([])
  const {
    dependencies = {},
    optionalDependencies = {},
    devDependencies = {},
  } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, Record<string, string>>
  expect(Object.keys({ ...dependencies, ...optionalDependencies }).sort()).toEqual(Object.keys(PACKAGES).sort())
  expect(Object.keys(devDependencies)).toEqual(expect.arrayContaining(Object.keys(BUNDLED)))
})

test('the command and the hooks pay for no package of another door', () => {
  const inputs = JSON.parse(readFileSync('dist/test/inputs.json', 'utf8')) as Record<string, readonly string[]>
  const has = (bundle: string, name: string): boolean => inputs[bundle]?.some((path) => path.includes(`node_modules/${name}/`)) ?? false
  const bundle: Readonly<Record<string, string>> = { mcp: 'mcp.cjs', http: 'daemon.cjs', keep: 'workflow.cjs' }
  for (const [name, room] of Object.entries(BUNDLED)) {
    expect(has(bundle[room] ?? '', name), name).toBe(true)
    expect([has('cli.cjs', name), has('hook.cjs', name)], name).toEqual([false, false])
  }
  expect(Object.keys(inputs)).toEqual(expect.arrayContaining(['cli.cjs', 'hook.cjs', 'help.cjs', 'mcp.cjs', 'daemon.cjs']))
})

test('processes are started in one room only, and never by name of a killer', () => {
  const spawners = all.filter(({ imports }) => imports.includes('node:child_process')).map(({ room }) => room)
  expect(new Set(spawners)).toEqual(new Set(['keep']))
  const scripts = [
    'bin/holdfast',
    ...readdirSync('src/keep/scripts')
      .filter((name) => name.endsWith('.sh'))
      .map((name) => `src/keep/scripts/${name}`),
  ]
  const programs = /(?:^|[\s;&|(])(?:pkill|killall|ps|lsof|pgrep|\/bin\/kill|\/usr\/bin\/kill|env kill)\s/m
  for (const script of scripts) expect(readFileSync(script, 'utf8').replaceAll(/^\s*#.*$/gm, ''), script).not.toMatch(programs)
  for (const { path, text } of all) expect(text, path).not.toMatch(/spawn(?:Sync)?\(\s*['"](?:kill|pkill|ps|lsof|killall)['"]/)
})

test('no file is dead: everything is reached from an entrance', () => {
  const byPath = new Map(all.map((source) => [source.path, source]))
  const reached = new Set<string>()
  const visit = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    for (const specifier of byPath.get(path)?.imports ?? []) if (specifier.startsWith('.')) visit(normalize(join(dirname(path), specifier)))
  }
  for (const entrance of ENTRANCES) visit(entrance)
  expect(all.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([])
})

/** An entrance that only lists names is as long as its room is wide. */
const onlyLists = (text: string): boolean =>
  codeOf(text)
    .replaceAll(/export (?:type )?\{[^}]*\} from '[^']*'/g, '')
    .trim() === ''

test('files stay small', () => {
  expect(all.filter(({ text }) => text.split('\n').length > MAX_LINES && !onlyLists(text)).map(({ path }) => path)).toEqual([])
  expect([onlyLists("export { a } from './a.ts'\nexport type { B } from './b.ts'"), onlyLists("export { a } from './a.ts'\nconst b = 1")]).toEqual([
    true,
    false,
  ])
})

test('every room with an index has it as its entrance', () => {
  for (const room of Object.keys(ALLOWED)) if (room !== 'cli') expect(existsSync(`src/${room}/index.ts`), room).toBe(true)
})
