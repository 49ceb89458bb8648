// Prints docs/states.md and docs/reference/problems.md from the model. Tests compare them.
import { mkdirSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'

const { outputFiles } = await build({ entryPoints: ['src/show/index.ts'], bundle: true, format: 'esm', write: false })
const { problemsPage, statesPage } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)
writeFileSync('docs/states.md', statesPage())
mkdirSync('docs/reference', { recursive: true })
writeFileSync('docs/reference/problems.md', problemsPage())
