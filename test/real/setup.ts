import { existsSync } from 'node:fs'

/** Real tests drive the built command; `npm test` builds it first. */
export default function setup(): void {
  if (!existsSync('dist/test/bin/holdfast')) throw new Error('build first: npm run build')
}
