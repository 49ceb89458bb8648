// Builds dist/: the command (one CJS file) with the keeper's scripts, the library (ESM with types), and dist/test: the same command
// with failpoints, for tests only.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { build } from 'esbuild'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  external: ['@photostructure/sqlite', 'node:sqlite'],
  logLevel: 'warning',
  legalComments: 'none',
}
const scripts = ['keeper.sh', 'stub.sh', 'gate.sh', 'timer.sh', 'wake.sh', 'linger.sh', 'hook.sh']

const command = (outfile, failpoints) =>
  build({
    ...shared,
    entryPoints: ['src/cli/main.ts'],
    outfile,
    format: 'cjs',
    minifySyntax: true,
    define: { HOLDFAST_VERSION: JSON.stringify(version), HOLDFAST_FAILPOINTS_BUILT: String(failpoints), 'import.meta.url': 'bundleUrl' },
    banner: { js: "const bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
  })

// Into a folder beside it, then file by file into place: a build never takes the command away from a run that is under way.
const next = `dist.${process.pid}`
mkdirSync(`${next}/test/bin`, { recursive: true })
mkdirSync(`${next}/test/dist`, { recursive: true })
try {
  await Promise.all([
    command(`${next}/cli.cjs`, false),
    command(`${next}/test/dist/cli.cjs`, true),
    build({
      ...shared,
      entryPoints: ['src/app/library.ts'],
      outfile: `${next}/library.js`,
      format: 'esm',
      define: { HOLDFAST_FAILPOINTS_BUILT: 'false' },
    }),
  ])
  for (const script of scripts) {
    copyFileSync(`src/keep/${script}`, `${next}/${script}`)
    copyFileSync(`src/keep/${script}`, `${next}/test/dist/${script}`)
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
