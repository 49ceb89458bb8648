// Builds dist/: the command (one CJS file) with the keeper's scripts, the help texts, the bundle of hooks, the MCP server and the daemon that it loads (others), the library (ESM with types),
// the licences of what is bundled into them, and dist/test: the same command with failpoints, for tests only.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { build } from 'esbuild'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  external: ['@photostructure/sqlite', 'node:sqlite'],
  logLevel: 'warning',
  // They are all in THIRD-PARTY.md.
  legalComments: 'none',
  metafile: true,
}
const scripts = ['keeper.sh', 'stub.sh', 'gate.sh', 'timer.sh', 'wake.sh', 'guard.sh', 'terminal.sh', 'hook.sh', 'pane.sh', 'join.sh', 'tmux.conf']

const command = (entry, outfile, failpoints) =>
  build({
    ...shared,
    entryPoints: [entry],
    outfile,
    // The SDK's own would bring a validator that nobody uses.
    alias: { '@modelcontextprotocol/server/_shims': resolve('src/mcp/shims.ts') },
    format: 'cjs',
    // Node reads the whole file at each call: blanks cost time. Names stay, for the stack of a bug.
    minifySyntax: true,
    minifyWhitespace: !failpoints,
    lineLimit: 160,
    define: { HOLDFAST_VERSION: JSON.stringify(version), HOLDFAST_FAILPOINTS_BUILT: String(failpoints), 'import.meta.url': 'bundleUrl' },
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
  })

// Into a folder beside it, then file by file into place: a build never takes the command away from a run that is under way.
const next = `dist.${process.pid}`
mkdirSync(`${next}/test/bin`, { recursive: true })
mkdirSync(`${next}/test/dist`, { recursive: true })
try {
  const built = await Promise.all([
    command('src/cli/main.ts', `${next}/cli.cjs`, false),
    command('src/cli/help/index.ts', `${next}/help.cjs`, false),
    command('src/cli/hook-main.ts', `${next}/hook.cjs`, false),
    command('src/mcp/index.ts', `${next}/mcp.cjs`, false),
    command('src/daemon/index.ts', `${next}/daemon.cjs`, false),
    command('src/keep/workflow/bundle.ts', `${next}/workflow.cjs`, false),
    command('src/cli/main.ts', `${next}/test/dist/cli.cjs`, true),
    command('src/cli/help/index.ts', `${next}/test/dist/help.cjs`, true),
    command('src/cli/hook-main.ts', `${next}/test/dist/hook.cjs`, true),
    command('src/mcp/index.ts', `${next}/test/dist/mcp.cjs`, true),
    command('src/daemon/index.ts', `${next}/test/dist/daemon.cjs`, true),
    command('src/keep/workflow/bundle.ts', `${next}/test/dist/workflow.cjs`, true),
    build({
      ...shared,
      entryPoints: ['src/library/index.ts'],
      outfile: `${next}/library.js`,
      format: 'esm',
      define: { HOLDFAST_FAILPOINTS_BUILT: 'false' },
    }),
  ])
  // For the tests: which files went into which bundle.
  const bundles = built.flatMap(({ metafile }) => Object.entries(metafile.outputs))
  const inputs = bundles.map(([path, { inputs }]) => [relative(next, path), Object.keys(inputs)])
  writeFileSync(`${next}/test/inputs.json`, JSON.stringify(Object.fromEntries(inputs)))
  writeFileSync(`${next}/THIRD-PARTY.md`, licences(built.flatMap(({ metafile }) => Object.keys(metafile.inputs))))
  for (const script of scripts) {
    copyFileSync(`src/keep/scripts/${script}`, `${next}/${script}`)
    copyFileSync(`src/keep/scripts/${script}`, `${next}/test/dist/${script}`)
  }
  copyFileSync('bin/holdfast', `${next}/test/bin/holdfast`)
  chmodSync(`${next}/test/bin/holdfast`, 0o755)
  execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.types.json', '--outDir', `${next}/types`], { stdio: 'inherit' })
  for (const entry of readdirSync(next, { recursive: true, withFileTypes: true })) {
    const from = join(entry.parentPath, entry.name)
    const to = join('dist', relative(next, from))
    if (entry.isDirectory()) mkdirSync(to, { recursive: true })
    else {
      mkdirSync(dirname(to), { recursive: true })
      renameSync(from, to)
    }
  }
} finally {
  rmSync(next, { recursive: true, force: true })
}

/** Who wrote what is bundled, and on what terms; a package that does not say so is not bundled. */
function licences(inputs) {
  const packages = new Set(inputs.flatMap((input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []))
  const parts = [...packages].toSorted().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry))
    if (license === undefined || file === undefined) throw new Error(`${name} ${version} comes without a licence`)
    return `## ${name} ${version} (${license})\n\n\`\`\`\n${readFileSync(join(folder, file), 'utf8').trim()}\n\`\`\`\n`
  })
  return `# What is bundled into this folder's scripts\n\n${parts.join('\n')}`
}
