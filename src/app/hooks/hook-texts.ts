import { denialFiles, HOOK_FACTS } from '../../harness/index.ts'
import type { HookTexts } from '../../keep/index.ts'
import { deniedText } from '../../show/index.ts'

/** What hook.sh reads in a run directory, from what is known of harnesses. */
export const hookTexts: HookTexts = { facts: HOOK_FACTS, denials: (session, intent) => denialFiles(deniedText(session, intent)) }
