// Builds dist/: the command (one CJS file) with the keeper's scripts, the library (ESM with types), and dist/test: the same command
// with failpoints, for tests only.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { build } from 'esbuild'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const shared = { bundle: true, platform: 'node', target: 'node20', external: ['@photostructure/sqlite', 'node:sqlite'], logLevel: 'warning', legalComments: 'none' }
const scripts = ['keeper.sh', 'stub.sh', 'gate.sh', 'timer.sh']

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

rmSync('dist', { recursive: true, force: true })
mkdirSync('dist/test/bin', { recursive: true })
mkdirSync('dist/test/dist', { recursive: true })
await Promise.all([
  command('dist/cli.cjs', false),
  command('dist/test/dist/cli.cjs', true),
  build({ ...shared, entryPoints: ['src/app/library.ts'], outfile: 'dist/library.js', format: 'esm', define: { HOLDFAST_FAILPOINTS_BUILT: 'false' } }),
])
for (const script of scripts) {
  copyFileSync(`src/keep/${script}`, `dist/${script}`)
  copyFileSync(`src/keep/${script}`, `dist/test/dist/${script}`)
}
copyFileSync('bin/holdfast', 'dist/test/bin/holdfast')
chmodSync('dist/test/bin/holdfast', 0o755)
execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.types.json'], { stdio: 'inherit' })
