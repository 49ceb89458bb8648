import { endSummary, type RequestFacts, type RequestStep } from '../../../decide/index.ts'
import type { WorkRequest } from '../../../model/index.ts'
import { tidyWorktree } from '../request-ends.ts'
import { lastWordsOf } from './last-words.ts'
import { holdsOf, type Pass } from './worker.ts'

type End = Extract<RequestStep, { kind: 'end' }>

/** Ends a request: its worktree goes first where nothing would be lost, so that no end is on record with its place forgotten. */
export async function endRequest(
  pass: Pass,
  request: WorkRequest,
  step: End,
  facts: RequestFacts | null,
  why: string | null = null,
): Promise<boolean> {
  const { store, world, done } = pass
  const { state, reason, by } = step.ending
  const said = step.summary ?? (state === 'done' ? doneText(request) : await blockedText(pass, request, step, facts))
  const kept = state === 'blocked' ? null : await tidyWorktree(world, store, request)
  const summary = [said, ...(why === null ? [] : [why]), ...(kept === null ? [] : [kept])].join('; ')
  const ended = await store.requests.recordEnded(holdsOf(request), { state, reason, summary, by }, world.clock.now())
  if (ended) done.changes.push(`${request.id} is ${state}: ${summary}`)
  return ended
}

function doneText({ result, branch, order }: WorkRequest): string {
  if (result === null) return 'it is done'
  const commits = result.commits === 0 ? [] : [`${result.commits} ${result.commits === 1 ? 'commit' : 'commits'} on ${branch}`]
  const where =
    result.published === null
      ? commits.length === 0
        ? []
        : [`bring it home: git -C ${order.repo} merge ${branch}`]
      : [`published to ${result.published}`]
  return [...(result.kind === 'reported' ? [result.text] : []), ...commits, ...where].join('; ')
}

async function blockedText({ world }: Pass, request: WorkRequest, { ending: { reason } }: End, facts: RequestFacts | null): Promise<string> {
  const run = facts?.run.kind === 'ended' ? facts.run.run : null
  const { dir, branch, id, session } = request
  const look = facts?.branch
  const changes = dir === null || !world.directories.exists(dir) ? null : await world.branches.changes(topOf(world.directories, dir))
  const lastWords = run === null ? null : lastWordsOf(world, run.id)
  return endSummary({ id, session, reason, run, lastWords, commits: look?.kind === 'seen' ? look.commits : null, branch, changes, dir })
}

const topOf = (directories: Pass['world']['directories'], dir: string): string => directories.look(dir, directories.mounts())?.repository?.root ?? dir
