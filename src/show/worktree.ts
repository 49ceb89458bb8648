import type { WorktreeContent } from '../model/index.ts'
import { plain } from './paint.ts'

export type HomeView = {
  readonly session: string
  readonly path: string
  readonly branch: string
  readonly repository: string
  readonly target: string | null
}
export type MergedView = HomeView & {
  readonly isGone: boolean
  readonly answer:
    | { readonly kind: 'nothing' }
    | { readonly kind: 'merged'; readonly how: 'fast-forward' | 'merge-commit'; readonly commits: number; readonly files: number }
}

export function mergedText({ session, path, branch, target, isGone, answer }: MergedView): string[] {
  const how = answer.kind === 'merged' ? (answer.how === 'fast-forward' ? 'fast-forward' : 'a merge commit') : ''
  const what =
    answer.kind === 'nothing'
      ? `${plain(target ?? '')} has all of ${plain(branch)} already`
      : `${plain(branch)} is in ${plain(target ?? '')} (${how}): ${sizeText(answer)}`
  return [
    what,
    isGone ? `branch ${plain(branch)} stays` : `branch ${plain(branch)} and worktree ${plain(path)} stay; holdfast discard ${session} removes both`,
  ]
}

export const mergedJson = ({ session, path, branch, repository, target, isGone, answer }: MergedView): Record<string, unknown> => ({
  session,
  result: answer.kind === 'nothing' ? 'nothing' : answer.how,
  branch,
  into: target,
  repository,
  worktree: isGone ? null : path,
  commits: answer.kind === 'merged' ? answer.commits : 0,
  files: answer.kind === 'merged' ? answer.files : 0,
})

export type DiscardView = HomeView & { readonly content: WorktreeContent }

export const discardQuestion = ({ session, path, branch, repository, target, content }: DiscardView): string =>
  `discard the worktree of ${session}: ${contentText(branch, target, content)}. ${plain(path)} goes; a ref in ${plain(repository)} keeps all of it. Really? [y/N]`

export const discardedText = (view: DiscardView & { readonly ref: string; readonly branchStays: boolean }): string[] => [
  `discarded ${plain(view.path)}: ${contentText(view.branch, view.target, view.content)}`,
  `${view.branchStays ? `branch ${plain(view.branch)} stays; ` : ''}all of it is kept: git -C ${plain(view.repository)} show ${plain(view.ref)}`,
]

export const discardedJson = ({
  session,
  path,
  branch,
  repository,
  content,
  ref,
  branchStays,
}: DiscardView & { readonly ref: string; readonly branchStays: boolean }): Record<string, unknown> => ({
  session,
  worktree: path,
  branch,
  branchStays,
  repository,
  ref,
  commits: content.kind === 'unknown' ? null : content.commits,
  files: content.kind === 'unknown' ? null : content.files,
})

export type LeftView = Pick<DiscardView, 'session' | 'branch' | 'target' | 'content'> & { readonly unsaved: number | null }

/** What an ended session leaves in its worktree, and how that comes home. */
export function leftText({ session, branch, target, content, unsaved }: LeftView): string {
  const open = unsaved !== null && unsaved > 0 ? ` (${unsaved} not committed)` : ''
  const what = `${contentText(branch, target, content)}${open}`
  if (content.kind === 'in-target') return `${what}; holdfast discard ${session} removes its worktree`
  const home = open === '' ? `holdfast merge ${session} brings them home` : `commit, then holdfast merge ${session} brings them home`
  return target === null ? `${what}; holdfast discard ${session} removes its worktree and keeps a ref` : `${what}; ${home}`
}

/** What a branch has that the target lacks. */
export function contentText(branch: string, target: string | null, content: WorktreeContent): string {
  const on = `on branch ${plain(branch)}`
  if (content.kind === 'unknown') return `${on}, which could not be compared (${plain(content.why)})`
  if (content.kind === 'in-target') return `${on} there is nothing that ${plain(target ?? '')} does not have`
  return `${on} there are ${sizeText(content)} that ${plain(target ?? '')} does not have`
}

const sizeText = ({ commits, files }: { readonly commits: number; readonly files: number }): string =>
  `${commits} ${commits === 1 ? 'commit' : 'commits'} and ${files} changed ${files === 1 ? 'file' : 'files'}`
