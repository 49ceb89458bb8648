import { describe, expect, test } from 'vitest'
import { sessionVariables } from '../../src/decide/index.ts'
import { SESSION_VARIABLES } from '../../src/harness/index.ts'
import { verifies } from '../requirements.ts'

describe('sessionVariables', () => {
  const table = ['AGENT', 'CODEX_SESSION_*']
  const cases: readonly [what: string, names: readonly string[], found: readonly string[]][] = [
    ['an exact name', ['AGENT'], ['AGENT']],
    ['no more than an exact name', ['AGENTS', 'MY_AGENT', 'agent'], []],
    ['a family', ['CODEX_SESSION_ID', 'CODEX_SESSION_'], ['CODEX_SESSION_ID', 'CODEX_SESSION_']],
    ['not the family of another', ['CODEX_SESSION', 'MY_CODEX_SESSION_ID'], []],
    ['the order of the environment', ['CODEX_SESSION_B', 'PATH', 'AGENT', 'CODEX_SESSION_A'], ['CODEX_SESSION_B', 'AGENT', 'CODEX_SESSION_A']],
    ['nothing', [], []],
  ]
  test.each(cases)('%s', (_what, names, found) => expect(sessionVariables(names, table)).toEqual(found))
  test('an empty table finds nothing', () => expect(sessionVariables(['AGENT'], [])).toEqual([]))
})

verifies('clean-env', "every known harness's session variables are found, and what a person configured is not", () => {
  const identities = ['CLAUDECODE', 'CLAUDE_CODE_SESSION_ID', 'CODEX_THREAD_ID', 'GEMINI_SESSION_ID', 'QWEN_CODE_SESSION_ID', 'OPENCODE_PID', 'AGENT']
  const configuration = ['PATH', 'HOME', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'GEMINI_API_KEY', 'EDITOR']
  expect(sessionVariables([...configuration, ...identities], SESSION_VARIABLES)).toEqual(identities)
})

verifies('clean-env', 'our own markers are not among them', () => {
  const ours = ['HOLDFAST_HOME', 'HOLDFAST_SESSION', 'HOLDFAST_RUN', 'HOLDFAST_EPOCH', 'HOLDFAST_FENCE', 'HOLDFAST_LINEAGE']
  expect(sessionVariables(ours, SESSION_VARIABLES)).toEqual([])
})
