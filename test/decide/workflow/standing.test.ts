import { describe, expect } from 'vitest'
import { judgeWorkflow } from '../../../src/decide/index.ts'
import type { WorkflowSource, WorkflowTrust } from '../../../src/model/index.ts'
import { verifies } from '../../requirements.ts'

const found: WorkflowSource = { kind: 'found', branch: 'main', commit: 'c'.repeat(40), text: 'Do it.', sha256: 'aa' }
const trust: WorkflowTrust = { repository: '/r', sha256: 'aa', commit: 'b'.repeat(40), at: 1, by: 'me@here' }

describe('judgeWorkflow', () => {
  verifies('private', 'a file decides only with the very content that a person allowed', () => {
    expect(judgeWorkflow(found, trust, '/r')).toEqual({ kind: 'allowed', text: 'Do it.', sha256: 'aa' })
    expect(judgeWorkflow(found, null, '/r')).toMatchObject({ kind: 'blocked', reason: 'workflow-untrusted' })
    expect(judgeWorkflow(found, { ...trust, sha256: 'bb' }, '/r')).toMatchObject({ kind: 'blocked', reason: 'workflow-changed' })
  })
  verifies('unknown', 'only a proven absence of the file means the defaults', () => {
    const none: WorkflowSource = { kind: 'none', branch: 'main', commit: 'c' }
    expect(judgeWorkflow(none, null, '/r')).toEqual({ kind: 'default' })
    expect(judgeWorkflow(none, trust, '/r')).toMatchObject({ kind: 'blocked', reason: 'workflow-removed' })
    expect(judgeWorkflow({ kind: 'unknown', why: 'git is gone' }, trust, '/r')).toMatchObject({ kind: 'blocked', reason: 'workflow-unknown' })
  })
})
