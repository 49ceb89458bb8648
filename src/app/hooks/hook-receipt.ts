import type { Added } from '../../harness/index.ts'
import { readHookReceipt, removeHookReceipt, writeHookReceipt } from '../../keep/index.ts'
import type { World } from '../world/world.ts'

/** What of the world hooks need. */
export type HookWorld = Pick<World, 'home' | 'assets' | 'env'>

/** What `hooks install` did to a file: enough to give back the very bytes that were there. It helps, but nothing depends on it. */
export type HookRecord = {
  readonly path: string
  /** Of the text as it was written. */
  readonly sha256: string
  readonly steps: Added['steps']
  readonly made: Added['made']
  /** There was no such file, and these folders were made for it. */
  readonly created: boolean
  readonly folders: readonly string[]
}

export function readHookRecord(world: HookWorld, harness: string, path: string): HookRecord | null {
  const { format, ...record } = (readHookReceipt(world.home, harness) ?? {}) as Partial<HookRecord> & { format?: number }
  return format === 1 && record.path === path && isRecord(record) ? record : null
}

export const writeHookRecord = (world: HookWorld, harness: string, record: HookRecord): void =>
  writeHookReceipt(world.home, harness, { format: 1, ...record })

export const removeHookRecord = (world: HookWorld, harness: string): void => removeHookReceipt(world.home, harness)

const isRecord = (record: Partial<HookRecord>): record is HookRecord => {
  const { sha256: sum, steps, made, created, folders } = record
  return typeof sum === 'string' && Array.isArray(steps) && Array.isArray(made) && typeof created === 'boolean' && Array.isArray(folders)
}
