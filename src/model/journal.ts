import type { ProcessId } from './identity.ts'

/** A member that was seen: who it was and, if it listened, where. */
export type JournalEntry = ProcessId & { readonly name: string; readonly ports: readonly number[] }
