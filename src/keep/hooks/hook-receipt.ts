import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readFile, replaceFile } from '../../lib/index.ts'
import { policy } from '../../model/index.ts'

/** What `hooks install` wrote down about an agent's settings file; null: nothing that can be read. */
export function readHookReceipt(home: string, harness: string): Readonly<Record<string, unknown>> | null {
  try {
    const receipt = JSON.parse(readFile(pathOf(home, harness), policy.smallFileBytes)) as unknown
    return typeof receipt === 'object' && receipt !== null ? (receipt as Record<string, unknown>) : null
  } catch {
    return null
  }
}

export function writeHookReceipt(home: string, harness: string, receipt: object): void {
  mkdirSync(join(home, 'hooks'), { recursive: true, mode: 0o700 })
  replaceFile(pathOf(home, harness), `${JSON.stringify(receipt)}\n`)
}

export const removeHookReceipt = (home: string, harness: string): void => rmSync(pathOf(home, harness), { force: true })

const pathOf = (home: string, harness: string): string => join(home, 'hooks', `${harness}.json`)
