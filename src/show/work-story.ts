import type { RequestEvent } from '../model/index.ts'
import { type Paint, plain } from './paint.ts'
import { age, iso } from './time.ts'

type Detail = RequestEvent['detail']
const word = (detail: Detail, name: string): string => {
  const value = detail[name]
  return value == null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
}
const behind = (detail: Detail, name: string): string => (word(detail, name) === '' ? '' : `: ${word(detail, name)}`)

/** A sentence for each kind of step; a kind that has none is shown with its details. */
const SENTENCES: Readonly<Record<string, (detail: Detail, at: number) => string>> = {
  added: (detail) => `${word(detail, 'by')} asked for it`,
  claimed: (detail) => `a worker took it (pid ${word(detail, 'pid')} on ${word(detail, 'host')}, claim ${word(detail, 'token')})`,
  placed: (detail) => `its worktree is ${word(detail, 'dir')} on ${word(detail, 'branch')}`,
  started: (detail) => `its agent was started (run ${word(detail, 'run')})`,
  result: (detail) =>
    Number(detail['commits']) > 0
      ? `it has ${word(detail, 'commits')} ${detail['commits'] === 1 ? 'commit' : 'commits'} on ${word(detail, 'branch')}`
      : `${word(detail, 'by')} reported a result${behind(detail, 'text')}`,
  released: (detail, at) => `it went back into the queue${behind(detail, 'why')}${untilText(detail, at)}`,
  waiting: (detail, at) => `it waits for ${FOR[word(detail, 'cause')] ?? word(detail, 'cause')}${behind(detail, 'summary')}${untilText(detail, at)}`,
  due: (detail) => `it went on${behind(detail, 'why')}`,
  trouble: (detail) => `${word(detail, 'step')} failed${behind(detail, 'why')}`,
  closing: (detail) => `${word(detail, 'by')} wants it ended${behind(detail, 'summary')}`,
  done: (detail) => `it is done (${word(detail, 'reason')})${behind(detail, 'summary')}`,
  blocked: (detail) => `it is blocked (${word(detail, 'reason')})${behind(detail, 'summary')}`,
  cancelled: (detail) => `it is cancelled (${word(detail, 'reason')})${behind(detail, 'summary')}`,
  feedback: (detail) => `${word(detail, 'by')} said ${word(detail, 'id')}${behind(detail, 'text')}`,
  'feedback-began': (detail) => `${word(detail, 'id')} is on its way to the agent`,
  'feedback-delivered': (detail) => `${word(detail, 'id')} reached the agent${behind(detail, 'why')}`,
  'feedback-returned': (detail) => `${word(detail, 'id')} did not arrive, and waits again`,
  'feedback-lost': (detail) => `nobody can tell whether ${word(detail, 'id')} arrived${behind(detail, 'why')}`,
  'feedback-ignored': (detail) => `${word(detail, 'id')} was ignored${behind(detail, 'why')}`,
  'feedback-retried': (detail) => `${word(detail, 'id')} is sent once more`,
}

const FOR: Readonly<Record<string, string>> = {
  review: 'a review',
  feedback: 'feedback',
  limit: 'its limit to end',
  dependency: 'others',
  publish: 'its branch to be published',
}

const untilText = (detail: Detail, at: number): string => {
  const due = detail['dueAt']
  return typeof due === 'number' && due > at ? `; again after ${age(due - at)}` : ''
}

export const storyText = (story: readonly RequestEvent[], paint: Paint): string[] =>
  story.map(({ at, kind, detail }) => `  ${paint.dim(iso(at) ?? '')}  ${plain(SENTENCES[kind]?.(detail, at) ?? `${kind} ${JSON.stringify(detail)}`)}`)
