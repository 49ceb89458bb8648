import { describe, expect, test } from 'vitest'
import { readWorkflow } from '../../../src/decide/index.ts'
import { WORKFLOW_DEFAULT, type Workflow } from '../../../src/model/index.ts'

const read = (settings: unknown, prompt = 'Do it.'): Workflow => {
  const answer = readWorkflow(settings, prompt)
  if ('trouble' in answer) throw new Error(answer.trouble)
  return answer.workflow
}

describe('readWorkflow', () => {
  test('a file without front matter is only a prompt', () => {
    expect(read(null, '\nDo it.\n')).toEqual({ ...WORKFLOW_DEFAULT, prompt: 'Do it.' })
  })

  test('the keys of the convention are read', () => {
    const workflow = read({
      tracker: { kind: 'linear', active_states: ['Ready'], terminal_states: ['Shipped'] },
      hooks: { after_create: 'npm ci', before_run: 'git fetch', after_run: 'true', before_remove: 'true', timeout_ms: 5_000 },
      agent: { max_concurrent_agents: 2, max_retry_backoff_ms: 9_000, max_concurrent_agents_by_state: { Todo: 1 } },
      codex: { command: 'codex app-server', turn_timeout_ms: 1_000, stall_timeout_ms: 2_000 },
    })
    expect(workflow.hooks).toEqual({ afterCreate: 'npm ci', beforeRun: 'git fetch', afterRun: 'true', beforeRemove: 'true', timeoutMs: 5_000 })
    expect(workflow.agent).toEqual(['codex'])
    expect(workflow.states).toEqual({ active: ['Ready'], terminal: ['Shipped'] })
    expect(workflow.limits).toEqual({ ...WORKFLOW_DEFAULT.limits, atOnce: 2, backoffMaxMs: 9_000, wallMs: 1_000, idleMs: 2_000 })
    expect(workflow.unused.map(({ key }) => key)).toEqual(['tracker.kind', 'agent.max_concurrent_agents_by_state.Todo'])
  })

  test('our own keys are read', () => {
    const workflow = read({ holdfast: { agent: ['claude', '--model', 'x y'], publish: 'branch', wall: '2h', idle: '90s', rework: 1, budget: '2m' } })
    expect(workflow.agent).toEqual(['claude', '--model', 'x y'])
    expect(workflow.publish).toBe('branch')
    expect(workflow.limits).toMatchObject({ wallMs: 7_200_000, idleMs: 90_000, rework: 1, budget: '2m' })
  })

  test.each([0, -1])('a stall timeout of %i turns the limit off', (stall_timeout_ms) => {
    expect(read({ codex: { stall_timeout_ms } }).limits.idleMs).toBeNull()
  })

  test.each([
    [[], 'its front matter is no map of keys and values'],
    ['words', 'its front matter is no map of keys and values'],
    [{ hooks: 'npm ci' }, 'hooks is no map of keys and values'],
    [{ hooks: { after_create: ['npm'] } }, 'hooks.after_create is no text'],
    [{ hooks: { timeout_ms: 'soon' } }, 'hooks.timeout_ms is no whole number: soon'],
    [{ hooks: { timeout_ms: 0 } }, 'hooks.timeout_ms is not between 1 and 86400000: 0'],
    [{ codex: { command: 'codex "$HOME"' } }, 'codex.command needs a shell: write it as a list of words'],
    [{ codex: { command: [] } }, 'codex.command is empty'],
    [{ holdfast: { publish: 'everything' } }, 'holdfast.publish is none of none, branch, pull-request: everything'],
    [{ holdfast: { wall: 'long' } }, 'holdfast.wall is no duration such as 30m: long'],
    [{ tracker: { active_states: 'Todo' } }, 'tracker.active_states is no list of words'],
  ])('%j is refused', (settings, trouble) => expect(readWorkflow(settings, '')).toEqual({ trouble }))

  test('keys of a prototype are no settings', () => {
    expect(read(JSON.parse('{"__proto__": {"hooks": {"after_create": "x"}}, "constructor": 1}')).hooks.afterCreate).toBeNull()
  })
})
