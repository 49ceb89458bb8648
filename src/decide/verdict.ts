import type { Ending, Exit, ExitRecord, Fact, Intent, LiveRun, Member, Spared, Tree } from '../model/index.ts'
import { BY, describeExit, describeMember, exitFromShell, exitFromWaitStatus, intentOf, NOT_STARTED, policy, portsFirst } from '../model/index.ts'

/** Everything that was looked at for one live run. `tree` may be left out only when the harness is alive. */
export type Seen = {
  readonly launcher: Fact
  readonly keeper: Fact | null
  readonly harness: Fact | null
  readonly tree: Tree | null
  readonly exit: ExitRecord | null
  /** What lies in the place of its files, where no exit record could be read. */
  readonly trouble?: string | null
  /** The tmux server that hosted it, once its pane was closed. */
  readonly server?: Fact | null
  /** Signals after which its agent exits with 0. */
  readonly zeroAfter?: readonly string[]
  readonly notStarted: number | null
  /** The file in which the stub would have said who becomes the agent is untouched. */
  readonly neverBegan?: boolean
  /** The keeper that its directory names, where its row has none. */
  readonly unrecordedKeeper?: Fact | null
  /** What the tombstone says, where the store could not be told. */
  readonly intent: Intent | null
}

export type Verdict =
  | { readonly kind: 'alive' }
  | { readonly kind: 'starting'; readonly why: string }
  /** Over, but somebody alive has yet to write down how: wait a little. */
  | { readonly kind: 'settling'; readonly why: string }
  /** The harness is over, its tree is not. */
  | { readonly kind: 'leftovers'; readonly members: readonly Member[]; readonly exit: Exit | null }
  | { readonly kind: 'over'; readonly ending: Ending }
  | { readonly kind: 'unknown'; readonly why: string }

/** What follows for a run that the store calls live. Two keys must turn before it is over: its keeper and its tree. */
export function verdict(run: LiveRun, seen: Seen): Verdict {
  const { keeper, harness, tree } = seen
  if (harness?.kind === 'alive') return { kind: 'alive' }
  if (harness?.kind === 'unknown') return harness
  if (tree === null) return { kind: 'unknown', why: 'its tree was not looked at' }
  if (tree.kind === 'unknown') return tree
  if (keeper === null && !run.adopted && !hasBegun(seen)) return withoutKeeper(run, seen, tree)
  if (tree.kind === 'members') {
    const harnessOver = harness !== null || seen.exit !== null
    if (!harnessOver || run.until === 'tree') return { kind: 'alive' }
    return { kind: 'leftovers', members: tree.members, exit: exitOf(run, seen)?.exit ?? null }
  }
  const known = exitOf(run, seen) !== null
  // A keeper that wrote the end has turned its key.
  const kept = keeper ?? (seen.exit !== null || run.adopted ? null : (seen.unrecordedKeeper ?? KEEPER_UNRECORDED))
  if (kept?.kind === 'unknown') return kept
  if (kept?.kind === 'alive' && !known) {
    return harness === null
      ? { kind: 'starting', why: 'its keeper is about to start the agent' }
      : { kind: 'settling', why: 'the agent is gone and its keeper has not yet written how it ended' }
  }
  return { kind: 'over', ending: endingOf(run, seen) }
}

/** The row lost its keeper: the agent was there, and its launcher is gone, so no keeper can still be recorded. */
const hasBegun = ({ launcher, harness, exit }: Seen): boolean => launcher.kind === 'gone' && (harness !== null || exit !== null)
const KEEPER_UNRECORDED = { kind: 'unknown', why: 'its row has no keeper, and neither has its directory: whether that lives cannot be told' } as const

/** No keeper on record means the gate never opened: nothing of it can have run. */
function withoutKeeper(run: LiveRun, seen: Seen, tree: Tree): Verdict {
  const { launcher } = seen
  // Then what we know of it is older than what it did: look again.
  if (seen.harness !== null || seen.exit !== null) return { kind: 'settling', why: 'it has just been started' }
  // Once it is asked to end, its keeper can no longer get on record: whatever its launcher does, the gate stays shut.
  const shut = run.state === 'stopping'
  if (launcher.kind === 'alive' && (!shut || tree.kind === 'members')) return { kind: 'starting', why: 'its launcher is at work' }
  if (launcher.kind === 'unknown') return launcher
  if (tree.kind === 'members') return { kind: 'settling', why: 'its launcher is gone and its keeper is leaving' }
  const intent = intentOf(run) ?? seen.intent
  const evidence = [
    launcher.kind === 'gone' ? `launcher gone: ${launcher.why}` : 'asked to end before its launcher could start it',
    'the gate never opened: no keeper was recorded',
    'no process of it was found',
  ]
  if (intent !== null) return { kind: 'over', ending: { state: intent.end, exit: null, reason: intent.reason, evidence, by: intent.by } }
  return { kind: 'over', ending: { state: 'failed', exit: null, reason: NEVER_STARTED, evidence, by: 'reconcile' } }
}

const NEVER_STARTED = 'it never started: the command that launched it ended first'

/** With its agent, as its keeper wrote down; with the last of its tree only who looks can tell, by now. */
export const endedAt = (run: LiveRun, exit: ExitRecord | null, now: number): number =>
  run.until === 'tree' || exit === null ? now : Math.round(exit.at)

/** The ending that the evidence allows, and no better one. */
export function endingOf(run: LiveRun, seen: Seen): Ending {
  const known = exitOf(run, seen)
  const exit = known?.exit ?? null
  const evidence = [
    known?.evidence ?? (seen.trouble ? `no exit record: ${seen.trouble}` : 'no exit record'),
    ...(seen.harness?.kind === 'gone' ? [`agent gone: ${seen.harness.why}`] : []),
    ...(seen.keeper?.kind === 'gone' && known === null ? [`keeper gone: ${seen.keeper.why}`] : []),
    ...serverEvidence(seen.server ?? null),
    'no process of it was found',
  ]
  const intent = intentOf(run) ?? seen.intent
  if (intent !== null) return { ...asIntended(run, intent), exit, evidence }
  const told = seen.exit?.told ?? null
  if (told === 'HUP' && run.tmux !== null) return { state: 'stopped', exit, evidence, ...hungUp(seen.server ?? null) }
  if (told !== null) return { state: 'stopped', exit, reason: `the holdfast command received SIG${told}`, evidence, by: `SIG${told}` }
  if (seen.notStarted !== null) {
    return { state: 'failed', exit, reason: `${NOT_STARTED} ${run.argv[0] ?? 'it'}: ${startTrouble(seen.notStarted)}`, evidence, by: 'keeper' }
  }
  if (exit === null && seen.neverBegan === true && seen.harness === null) {
    const proof = 'nothing was written where an agent is named before it begins'
    return { state: 'failed', exit, reason: NEVER_STARTED, evidence: [...evidence, proof], by: 'reconcile' }
  }
  if (exit === null) {
    const reason = lostReason(run, seen)
    return { state: 'lost', exit: null, reason, evidence, by: 'reconcile' }
  }
  const by = seen.exit !== null ? 'keeper' : 'reconcile'
  const doubt =
    exit.code === 0 && seen.zeroAfter?.length
      ? [`${run.argv[0] ?? 'it'} exits with 0 also when it is told to end (${seen.zeroAfter.join(', ')})`]
      : []
  return { state: exit.code === 0 ? 'completed' : 'failed', exit, reason: describeExit(exit), evidence: [...evidence, ...doubt], by }
}

/** A takeover that left survivors started nothing. Their later end supersedes nobody. */
function asIntended(run: LiveRun, { end, by, reason }: Intent): Pick<Ending, 'state' | 'reason' | 'by'> {
  const failed = end === 'superseded' && run.state === 'stopping' && run.survivors.length > 0
  return failed
    ? { state: 'stopped', by, reason: `${reason}, but some of it could not be ended then: nothing took its place` }
    : { state: end, by, reason }
}

/** Who hung up on the keeper in a pane, and why: whoever closed it or, where its server is gone too, that one, which is nobody's wish. */
export const hungUp = (server: Fact | null): Pick<Intent, 'by' | 'reason'> =>
  server?.kind === 'gone'
    ? { by: BY.server, reason: 'its tmux pane was closed: its tmux server is gone' }
    : { by: 'SIGHUP', reason: 'its tmux pane was closed' }

const serverEvidence = (server: Fact | null): string[] =>
  server === null ? [] : [`tmux server ${server.kind === 'alive' ? 'alive' : `${server.kind}: ${server.why}`}`]

/** The same ending, with who had to be ended on the way to it, and who was left alone: a line each, as far as there is room. */
export function withNestedAgents(ending: Ending, ended: readonly Member[], spared: readonly Spared[]): Ending {
  const lines = [
    ...portsFirst(ended).map((member) => `ended with it: ${describeMember(member)}`),
    ...spared.map(({ row, why }) => `left alone: ${row.name} (pid ${row.pid}): ${why}`),
  ]
  if (lines.length === 0) return ending
  const rest = lines.length - policy.endedNamed
  return { ...ending, evidence: [...ending.evidence, ...lines.slice(0, policy.endedNamed), ...(rest > 0 ? [`and ${rest} more`] : [])] }
}

function exitOf(run: LiveRun, seen: Seen): { exit: Exit; evidence: string } | null {
  if (seen.exit !== null) {
    const doubt = seen.exit.exit.signal === null ? '' : ' (a shell cannot tell this code from that signal)'
    return { exit: seen.exit.exit, evidence: `the keeper's exit record: ${describeExit(seen.exit.exit)}${doubt}` }
  }
  if (seen.harness?.kind === 'gone' && seen.harness.waitStatus !== null) {
    const exit = exitFromWaitStatus(seen.harness.waitStatus)
    return { exit, evidence: `the zombie's own status: ${describeExit(exit)}` }
  }
  // A witness that is gone by now has been heard: its word is on record.
  if (run.state === 'stopping' && run.exit !== null) return { exit: run.exit, evidence: `on record since it was seen: ${describeExit(run.exit)}` }
  if (seen.notStarted !== null) return { exit: exitFromShell(seen.notStarted), evidence: `the stub could not become the agent (${seen.notStarted})` }
  return null
}

const START_TROUBLES: Readonly<Record<number, string>> = {
  125: 'its directory cannot be entered',
  126: 'not executable (EACCES)',
  127: 'not found (ENOENT)',
}
export const startTrouble = (code: number): string => START_TROUBLES[code] ?? `exit ${code}`

const lostReason = (run: LiveRun, seen: Seen): string => {
  if (run.adopted) return 'it was adopted while it ran: nobody saw how it ended'
  if (seen.keeper?.kind === 'gone' && seen.keeper.why.includes('started anew')) return 'the machine was started anew while it ran'
  const gone = 'its processes are gone and nothing tells how it ended'
  return seen.trouble ? `${gone}: ${seen.trouble}` : gone
}
