import { policy } from '../../../model/index.ts'
import type { World } from '../../world/world.ts'

/** The end of an agent's output; null: it has none that is kept. */
export function lastWordsOf({ runLogs }: Pick<World, 'runLogs'>, run: string): string | null {
  const chunks: Uint8Array[] = []
  for (const chunk of runLogs.read(run, 'now', Math.max(0, runLogs.size(run) - policy.lastWordsBytes))) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('utf8').trim()
  return text === '' ? null : text
}
