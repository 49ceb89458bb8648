import { existsSync } from 'node:fs'

/** Tests against real agents drive the built command, and agents that are there: `npm run test:harness` sees to both. */
export default function setup(): void {
  if (!existsSync('dist/cli.cjs')) throw new Error('build first: npm run build')
  if (process.env['HOLDFAST_AGENTS_FOUND'] === undefined) throw new Error('run these with: npm run test:harness [-- claude codex …]')
}
