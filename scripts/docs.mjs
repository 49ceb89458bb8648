// Prints the pages of docs/ that come from the sources: states, problems, the reference of commands, the man page. A test compares them.
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { build } from 'esbuild'

/** The exports of a source file, bundled in memory. */
async function load(entry) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    write: false,
    logLevel: 'error',
    external: ['@photostructure/sqlite', 'node:sqlite'],
    define: { HOLDFAST_VERSION: '""', HOLDFAST_FAILPOINTS_BUILT: 'false', 'import.meta.url': '""' },
  })
  const module = { exports: {} }
  new Function('module', 'exports', 'require', outputFiles[0].text)(module, module.exports, createRequire(import.meta.url))
  return module.exports
}

const { problemsPage, statesPage } = await load('src/show/index.ts')
const { pages } = await load('src/cli/help/pages.ts')
for (const [path, text] of Object.entries({ 'docs/states.md': statesPage(), 'docs/reference/problems.md': problemsPage(), ...pages() })) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
