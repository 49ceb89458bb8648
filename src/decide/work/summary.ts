import type { Ended, RequestReason } from '../../model/index.ts'
import { redacted } from './redact.ts'

export type EndFacts = {
  readonly id: string
  readonly session: string
  readonly reason: RequestReason
  readonly run: Ended | null
  /** The end of its agent's output. */
  readonly lastWords: string | null
  /** Commits on its branch; null: not known. */
  readonly commits: number | null
  readonly branch: string | null
  /** Changed files that are in no commit; null: not known. */
  readonly changes: readonly string[] | null
  readonly dir: string | null
}

const LAST_WORDS = 400
const FILES = 5

const HEADS: Partial<Readonly<Record<RequestReason, string>>> = {
  'no-result': 'the agent ended without a result',
  'agent-failed': 'the agent failed',
  attempts: 'every attempt ended without a result',
  stopped: 'a person stopped its agent',
  timeout: 'its time was over',
  budget: 'its budget was spent',
  silence: 'the agent did nothing for too long',
  'no-progress': 'the agent was busy and changed nothing for too long',
  'rework-limit': 'its feedback was worked on as often as allowed',
  'publish-failed': 'its branch could not be published',
  'usage-limit': 'its agent came to its usage limit',
  lost: 'its run is not on record any more',
}

/** The sentences that a person reads under a request that is blocked: the end, what there is, and what to type next. */
export function endSummary(facts: EndFacts): string {
  const { reason, run, lastWords, branch, commits, changes, dir } = facts
  const left = [
    ...(commits !== null && commits > 0 ? [`${commits} ${commits === 1 ? 'commit' : 'commits'} on ${branch}`] : []),
    ...(changes !== null && changes.length > 0 ? [`uncommitted in ${dir}: ${filesText(changes)}`] : []),
    ...(commits === 0 && changes?.length === 0 ? [`nothing was changed on ${branch}`] : []),
  ]
  const words = lastWords === null ? '' : lastOf(redacted(lastWords))
  return [
    `${HEADS[reason] ?? reason}${run === null ? '' : exitText(run)}`,
    ...left,
    ...(words === '' ? [] : [`its last words: ${words}`]),
    nextText(facts),
  ].join('; ')
}

const exitText = ({ exit, reason }: Ended): string =>
  exit === null ? ` (${reason})` : exit.signal === null ? ` (exit code ${exit.code})` : ` (${exit.signal})`

const filesText = (files: readonly string[]): string =>
  files.length <= FILES ? files.join(', ') : `${files.slice(0, FILES).join(', ')} and ${files.length - FILES} more`

/** The end of it counts: agents say at last what became of their work. */
function lastOf(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= LAST_WORDS ? line : `…${line.slice(-LAST_WORDS)}`
}

const nextText = ({ id, session, reason, run }: EndFacts): string =>
  run === null || reason === 'publish-failed'
    ? `try again: holdfast work retry ${id}`
    : `look: holdfast logs ${session}; go on: holdfast work retry ${id}`
