import { join } from 'node:path'
import { createFile } from '../../lib/index.ts'
import type { Intent } from '../../model/index.ts'
import { writeIfPossible } from '../run-files/atomic.ts'

/** The texts in a run directory that hook.sh reads: it knows no harness itself. */
export type HookTexts = {
  /** What hook.sh must know of harnesses (`facts`). */
  readonly facts: string
  /** The denial in the form of each harness, by file name. Null: before anybody has retired the run. */
  readonly denials: (session: string, intent: Intent | null) => Readonly<Record<string, string>>
}

export const NO_TEXTS: HookTexts = { facts: '', denials: () => ({}) }

/** They lie ready from the start: a full disk can still deny in the form that each harness understands. */
export function layHookFiles(folder: string, texts: HookTexts, session: string): void {
  const all = { ...(texts.facts === '' ? {} : { facts: texts.facts }), ...texts.denials(session, null) }
  for (const [name, text] of Object.entries(all)) createFile(join(folder, name), text)
}

/** Says who retired the run, and why. A full disk keeps the text from the start. */
export function renderDenials(folder: string, texts: HookTexts, session: string, intent: Intent): void {
  for (const [name, text] of Object.entries(texts.denials(session, intent))) writeIfPossible(join(folder, name), text)
}
