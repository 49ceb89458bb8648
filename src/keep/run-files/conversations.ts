import type { NativeId } from '../../model/index.ts'
import { policy } from '../../model/index.ts'
import { appendIfPossible, readIfThere } from './atomic.ts'

/** A line each: `HARNESS ID`, the newest last. A hook in plain sh reads it too. */
export const readNatives = (path: string): NativeId[] =>
  (readIfThere(path, policy.runFileBytes) ?? '').split('\n').flatMap((line) => {
    const [, harness, id] = /^(\S+) (\S+)$/.exec(line) ?? []
    return harness === undefined || id === undefined ? [] : [{ harness, id }]
  })

export function writeNative(path: string, native: NativeId): void {
  const last = readNatives(path).at(-1)
  if (last?.harness === native.harness && last.id === native.id) return
  // The store has it too: what lies in its place is no reason to fail.
  appendIfPossible(path, `${native.harness} ${native.id}\n`)
}
