// Prints docs/states.md from the model. A test compares the two.
import { writeFileSync } from 'node:fs'
import { build } from 'esbuild'

const { outputFiles } = await build({ entryPoints: ['src/show/states.ts'], bundle: true, format: 'esm', write: false })
const { statesPage } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)
writeFileSync('docs/states.md', statesPage())
