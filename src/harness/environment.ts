import { HARNESSES } from './agents/all.ts'
import { words } from './recognise/words.ts'

/** Those of harnesses that we know nothing else of: Qoder, Letta; and one by which other tools tell the session of Claude Code. */
const OTHERS = words('QODER_SESSION_ID QODER_CLI LETTA_AGENT_ID LETTA_CONVERSATION_ID LETTA_PARENT_AGENT_ID CLAUDE_SESSION_ID')

/**
 * Variables by which a harness tells its children which session they are in. A child that inherits another agent's would take
 * itself for that agent. Exact names, or families ending in `*`. User configuration (API keys, homes, models) is not here.
 */
export const SESSION_VARIABLES: readonly string[] = [...new Set([...HARNESSES.flatMap(({ sessionVariables }) => sessionVariables), ...OTHERS])]
