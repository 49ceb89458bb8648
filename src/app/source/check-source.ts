import type { Called, Source, SourceItem, SourceReport } from '../../model/index.ts'

/** A step of the protocol: what was expected, and what came instead. */
export type SourceCheck = {
  readonly step: string
  readonly expects: string
  readonly passed: boolean
  /** Null: it passed, or was left out. */
  readonly found: string | null
  readonly leftOut?: true
}

const FORGED = 'holdfast-check-forged-token'

/**
 * Walks a control plane through the protocol. Without an item it only reads. With one, it claims that item and reports to it, so the item is one
 * that its author has made for this. `stranger`: the same source without its credential.
 */
export async function checkSource(source: Source, stranger: Source | null, item: string | null): Promise<readonly SourceCheck[]> {
  const listed = await source.list()
  const checks: SourceCheck[] = [
    check('list', 'a list of items that can be read', listed, (items) => `${items.length} items`, true),
    answerOf('look at a missing item', '404', await source.look('holdfast-check-no-such-item'), 'missing'),
  ]
  if (stranger !== null) checks.push(answerOf('list without a credential', '401', await stranger.list(), 'unauthorized'))
  if (item === null)
    return [...checks, { step: 'claim, heartbeat, report, feedback', expects: 'an item to try them on', passed: true, found: null, leftOut: true }]
  return [...checks, ...(await checkItem(source, item))]
}

async function checkItem(source: Source, item: string): Promise<readonly SourceCheck[]> {
  const seen = await source.look(item)
  const checks = [
    check(
      'look',
      'the item that was named',
      seen,
      ({ id }: SourceItem) => `item ${id}`,
      ({ id }) => id === item,
    ),
  ]
  const key = `check-${item}`
  const first = await source.claim(item, key)
  checks.push(
    check(
      'claim',
      'a token',
      first,
      ({ kind }) => kind,
      ({ kind }) => kind === 'won',
    ),
  )
  if (!('ok' in first) || first.ok.kind !== 'won') return checks
  const { token } = first.ok
  const again = await source.claim(item, key)
  const isSame = 'ok' in again && again.ok.kind === 'won' && again.ok.token === token
  checks.push(
    check(
      'claim again with the same key',
      'the same token',
      again,
      () => 'another answer',
      () => isSame,
    ),
  )
  checks.push(
    check(
      'claim with another key',
      '409',
      await source.claim(item, `${key}-other`),
      ({ kind }) => kind,
      ({ kind }) => kind === 'lost',
    ),
  )
  checks.push(
    check(
      'heartbeat',
      'the item is held',
      await source.heartbeat(item, token),
      ({ kind }) => kind,
      ({ kind }) => kind === 'held',
    ),
  )
  const forged = await source.heartbeat(item, FORGED)
  checks.push(
    check(
      'heartbeat with a forged token',
      '409',
      forged,
      ({ kind }) => kind,
      ({ kind }) => kind === 'lost',
    ),
  )
  checks.push(
    check(
      'report',
      'it is taken',
      await source.report(reportOf(item, token)),
      (said) => said,
      (said) => said === 'taken',
    ),
  )
  checks.push(
    check(
      'report once more',
      'it is taken',
      await source.report(reportOf(item, token)),
      (said) => said,
      (said) => said === 'taken',
    ),
  )
  const stale = await source.report(reportOf(item, FORGED))
  checks.push(
    check(
      'report with a forged token',
      '409',
      stale,
      (said) => said,
      (said) => said === 'stale',
    ),
  )
  checks.push(check('feedback', 'a list', await source.feedback(item), (list) => `${list.length} pieces`, true))
  return checks
}

const reportOf = (item: string, token: string): SourceReport => ({
  item,
  token,
  sequence: 1,
  at: 0,
  state: 'running',
  reason: null,
  summary: 'holdfast source check',
  attempt: 1,
  branch: null,
  commit: null,
  pullRequest: null,
})

function check<T>(step: string, expects: string, answer: Called<T>, tell: (value: T) => string, passes: true | ((value: T) => boolean)): SourceCheck {
  if ('failed' in answer) return { step, expects, passed: false, found: answer.failed.why }
  const passed = passes === true || passes(answer.ok)
  return { step, expects, passed, found: passed ? null : tell(answer.ok) }
}

function answerOf(step: string, expects: string, answer: Called<unknown>, kind: string): SourceCheck {
  const passed = 'failed' in answer && answer.failed.kind === kind
  return { step, expects, passed, found: passed ? null : 'failed' in answer ? answer.failed.why : 'an answer' }
}
