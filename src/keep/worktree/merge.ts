import { readdir } from 'node:fs/promises'
import type { MergeAnswer, MergeRequest } from '../../model/index.ts'
import type { Acting } from './acting.ts'
import { privateObjects } from './content.ts'
import { type Look, lookAt, type Site } from './looking.ts'
import { seatOf } from './seat.ts'
import { UNDER_WAY } from './worktree-state.ts'

const TREE_MS = 120_000

/** Into what a working tree has checked out. It is looked at first, so that git is never left in the middle of a merge. */
export async function merge(site: Site, { quietly, asUser }: Acting, request: MergeRequest): Promise<MergeAnswer> {
  const { repository, commit, message } = request
  const seat = seatOf(repository)
  if (typeof seat === 'string') return { kind: 'failed', why: seat }
  const busy = (await readdir(seat.own).catch(() => [])).find((name) => UNDER_WAY.test(name))
  if (busy !== undefined) return { kind: 'unsaved', why: `git is in the middle of something there (${busy})` }
  const plan = await lookAt(site, repository, seat, (git, folder) =>
    planned((args, own) => git(args, { ...privateObjects(folder), ...own }), request),
  )
  if ('trouble' in plan) return { kind: 'failed', why: plan.trouble }
  if (!('how' in plan)) return plan
  const how = plan.how === 'fast-forward' ? ['--ff-only'] : ['--no-ff', '-m', message]
  const merged = await asUser(repository, ['merge', '--quiet', '--no-edit', '--no-autostash', ...how, commit], TREE_MS)
  if (merged.kind === 'done') return { kind: 'merged', ...plan }
  await quietly(repository, ['merge', '--abort'], TREE_MS)
  return { kind: 'failed', why: merged.why }
}

type Planned = { readonly how: 'fast-forward' | 'merge-commit'; readonly commits: number; readonly files: number }

async function planned(git: Look, { into, commit }: MergeRequest): Promise<Planned | MergeAnswer> {
  const head = await git(['symbolic-ref', '--quiet', 'HEAD'])
  if (head.kind === 'failed' || head.out.trim() !== `refs/heads/${into}`) return { kind: 'failed', why: `it is not on ${into} any more` }
  const status = await git(['status', '--porcelain', '--untracked-files=no', '--ignore-submodules=dirty', '-z'])
  if (status.kind === 'failed') return { kind: 'failed', why: status.why }
  const changed = status.out.split('\0').filter((entry) => entry !== '').length
  if (changed > 0) return { kind: 'unsaved', why: `it has ${changed} changed ${changed === 1 ? 'file' : 'files'} that nobody committed` }
  if ((await git(['merge-base', '--is-ancestor', commit, 'HEAD'])).kind === 'done') return { kind: 'nothing' }
  const counted = await git(['rev-list', '--count', `HEAD..${commit}`])
  const named = await git(['diff', '--name-only', '--no-ext-diff', '--no-textconv', '--no-renames', '-z', `HEAD...${commit}`])
  if (counted.kind === 'failed' || named.kind === 'failed')
    return { kind: 'failed', why: counted.kind === 'failed' ? counted.why : named.kind === 'failed' ? named.why : '' }
  const size = { commits: Number(counted.out), files: named.out.split('\0').filter((name) => name !== '').length }
  if ((await git(['merge-base', '--is-ancestor', 'HEAD', commit])).kind === 'done') return { how: 'fast-forward', ...size }
  const tried = await git(['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', 'HEAD', commit])
  if (tried.kind === 'done') return { how: 'merge-commit', ...size }
  if (tried.code !== 1) return { kind: 'failed', why: tried.why }
  return { kind: 'conflicting' }
}
