import { Problem } from '../../../model/index.ts'
import type { Check } from './check.ts'

export const currentDirectoryGone: Check<'place'> = {
  name: 'current-directory-gone',
  when: ['place'],
  check: ({ from }) => (from instanceof Problem ? from : null),
}

export const directoryUnusable: Check<'place'> = {
  name: 'directory-unusable',
  when: ['place'],
  check: ({ around }) => (around instanceof Problem ? around : null),
}

export const repositoryMissing: Check<'place'> = {
  name: 'repository-missing',
  when: ['place'],
  check: ({ request, around }) =>
    request.worktree === undefined || around instanceof Problem || around.repository !== null
      ? null
      : new Problem('repository-missing', `${around.path} is in no git repository, so there can be no worktree of it`, {
          hint: 'leave --worktree out',
        }),
}

export const branchInvalid: Check<'place'> = {
  name: 'branch-invalid',
  when: ['place'],
  check: ({ request: { worktree } }) =>
    worktree?.startsWith('refs/') === true ? new Problem('branch-invalid', `name the branch without refs/heads/, not ${worktree}`) : null,
}
