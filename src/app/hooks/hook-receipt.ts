import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Added } from '../../harness/index.ts'
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
  try {
    const { format, ...record } = JSON.parse(readFileSync(recordPath(world, harness), 'utf8')) as HookRecord & { format: number }
    return format === 1 && record.path === path && isRecord(record) ? record : null
  } catch {
    return null
  }
}

export function writeHookRecord(world: HookWorld, harness: string, record: HookRecord): void {
  mkdirSync(join(world.home, 'hooks'), { recursive: true, mode: 0o700 })
  writeFileSync(recordPath(world, harness), `${JSON.stringify({ format: 1, ...record })}\n`, { mode: 0o600 })
}

export const removeHookRecord = (world: HookWorld, harness: string): void => rmSync(recordPath(world, harness), { force: true })

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const recordPath = (world: HookWorld, harness: string): string => join(world.home, 'hooks', `${harness}.json`)

const isRecord = ({ sha256: sum, steps, made, created, folders }: Partial<HookRecord>): boolean =>
  typeof sum === 'string' && Array.isArray(steps) && Array.isArray(made) && typeof created === 'boolean' && Array.isArray(folders)
