import { expect, test } from 'vitest'
import { worktreeRemoval } from '../../src/decide/index.ts'
import type { WorktreeContent, WorktreeState } from '../../src/model/index.ts'

const seal = { branch: 'holdfast/s', head: 'a'.repeat(40), tree: 'b'.repeat(40) }
const STATES: Record<string, WorktreeState> = {
  clean: { kind: 'clean', branch: 'holdfast/s' },
  files: { kind: 'dirty', why: 'uncommitted: 1 changed, 0 untracked', content: true },
  dirty: { kind: 'dirty', why: 'git is in the middle of something' },
  half: { kind: 'half' },
  unknown: { kind: 'unknown', why: 'git did not say' },
}
const CONTENTS: Record<string, WorktreeContent> = {
  merged: { kind: 'in-target', how: 'merged', seal, commits: 1, files: 1 },
  squashed: { kind: 'in-target', how: 'squashed', seal, commits: 1, files: 1 },
  ahead: { kind: 'ahead', seal, commits: 1, files: 1 },
  unknown: { kind: 'unknown', why: 'no such branch' },
}

/** `drop`: its branch goes too, since it holds nothing of its own. */
test.each([
  ['clean', 'merged', 'drop'],
  ['clean', 'squashed', 'drop'],
  ['clean', 'ahead', 'remove'],
  ['clean', 'unknown', 'remove'],
  ['files', 'merged', 'drop'],
  ['files', 'squashed', 'drop'],
  ['files', 'ahead', 'keep'],
  ['files', 'unknown', 'keep'],
  ['dirty', 'merged', 'keep'],
  ['dirty', 'squashed', 'keep'],
  ['dirty', 'ahead', 'keep'],
  ['half', 'unknown', 'remove'],
  ['unknown', 'merged', 'keep'],
  ['unknown', 'squashed', 'keep'],
] as const)('%s, %s: %s; with anybody in it, it stays', (state, content, expected) => {
  const facts = { state: STATES[state] as WorktreeState, content: CONTENTS[content] as WorktreeContent }
  const free = worktreeRemoval({ users: null, ...facts }, 'main')
  expect(free.kind === 'keep' ? 'keep' : free.proven === null ? 'remove' : 'drop').toBe(expected)
  expect(worktreeRemoval({ users: 'sleep (pid 7) works in it', ...facts }, 'main')).toEqual({ kind: 'keep', why: 'sleep (pid 7) works in it' })
})
