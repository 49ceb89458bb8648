import type { Intent } from '../model/index.ts'
import { plain } from './paint.ts'

const ENDS = { stopped: 'was stopped', superseded: 'was taken over by somebody else' } as const

/** The sentence with which a tool call of a retired agent is denied, on one line. Null: nobody has said who retired it. */
export function deniedText(session: string, intent: Intent | null): string {
  const id = oneLine(session)
  const end = intent === null ? 'was retired' : intent.by === 'holdfast' ? 'was fenced off' : ENDS[intent.end]
  const why = intent === null ? '' : ` (by ${oneLine(intent.by)}: ${oneLine(intent.reason)})`
  return `Holdfast: denied. Session ${id}, which this agent worked for, ${end}${why}, so no tool call of this agent is carried out any more. Stop working now and tell the user. To see the session: holdfast status ${id}`
}

const oneLine = (text: string): string => plain(text.trim().replaceAll(/\s+/g, ' '))
