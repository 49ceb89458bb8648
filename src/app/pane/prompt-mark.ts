import { createRequire } from 'node:module'
import { unspaced } from '../../decide/index.ts'

/** A mark of a prompt's text: the hook of its agent leaves it, and `send` compares it. */
export function promptMark(text: string): string {
  // Loading it takes some milliseconds, and few prompts are in a pane.
  const { createHash } = createRequire(import.meta.url)('node:crypto') as typeof import('node:crypto')
  return createHash('sha256').update(unspaced(text)).digest('hex')
}
