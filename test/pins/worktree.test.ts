import { expect, test } from 'vitest'
import { discardedJson, mergedJson } from '../../src/show/index.ts'

const view = { session: 's', path: '/w/x', branch: 'holdfast/s', repository: '/r', target: 'main' }
const seal = { branch: 'holdfast/s', head: 'a'.repeat(40), tree: 'b'.repeat(40) }

test('merge --json', () => {
  expect(mergedJson({ ...view, isGone: false, answer: { kind: 'merged', how: 'fast-forward', commits: 2, files: 3 } })).toEqual({
    session: 's',
    result: 'fast-forward',
    branch: 'holdfast/s',
    into: 'main',
    repository: '/r',
    worktree: '/w/x',
    commits: 2,
    files: 3,
  })
  expect(mergedJson({ ...view, isGone: true, answer: { kind: 'nothing' } })).toMatchObject({
    result: 'nothing',
    worktree: null,
    commits: 0,
    files: 0,
  })
})

test('discard --json', () => {
  const ref = 'refs/holdfast/discarded/s/20260101T000000Z'
  expect(discardedJson({ ...view, ref, branchStays: false, content: { kind: 'ahead', seal, commits: 2, files: 3 } })).toEqual({
    session: 's',
    worktree: '/w/x',
    branch: 'holdfast/s',
    branchStays: false,
    repository: '/r',
    ref,
    commits: 2,
    files: 3,
  })
  expect(discardedJson({ ...view, ref, branchStays: true, content: { kind: 'unknown', why: 'w' } })).toMatchObject({ commits: null, files: null })
})
