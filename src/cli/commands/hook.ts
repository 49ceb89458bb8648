import { hear, readAll, type World } from '../../app/index.ts'
import { Problem } from '../../model/index.ts'
import { internal } from '../command.ts'
import type { Parsed } from '../options.ts'
import { print } from '../out.ts'

/** A payload may carry a whole prompt. */
const MAX_PAYLOAD = 4 * 1024 * 1024

/** The hook's script has read the payload of these events. */
const WITHOUT_PAYLOAD: readonly string[] = ['turn-end', 'waiting']

/** Its payload is on stdin. An error in here must not hold up an agent. */
export const hook = internal('_hook', 'hear of an event, for the hooks of agents', hookVerb, ['HARNESS', 'EVENT'])

async function hookVerb(world: World, { words: [harness = '', event = ''] }: Parsed): Promise<number> {
  const payload = WITHOUT_PAYLOAD.includes(event) ? {} : payloadFrom(new TextDecoder().decode(readAll(0, MAX_PAYLOAD) ?? new Uint8Array()))
  if (payload === null) return 0
  try {
    const told = await hear(world, { harness, event, payload })
    if (told !== null) print([told])
  } catch (error) {
    if (!(error instanceof Problem)) throw error
  }
  return 0
}

function payloadFrom(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
