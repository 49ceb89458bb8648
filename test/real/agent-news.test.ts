import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { inLab, until } from './lab.ts'
import { hookLine, obedient } from './obedient.ts'

/** Nobody else's, since all processes of the machine are looked at. */
const [A, B, N] = [randomUUID(), randomUUID(), randomUUID()]

/** What the model is told; the person is told the same. */
function heard(said: string, event = 'UserPromptSubmit'): string {
  const { systemMessage, hookSpecificOutput } = JSON.parse(said) as { systemMessage: string; hookSpecificOutput: object }
  expect(hookSpecificOutput).toEqual({ hookEventName: event, additionalContext: systemMessage })
  return systemMessage
}

test('with its next prompt an agent is told who joined and who left, once; and with its next tool call that a message waits, once', () =>
  inLab(async (lab) => {
    const agent = obedient(lab)
    const prompt = (session: 'a' | 'b'): Promise<string> => agent.hook(session, 'prompt', session === 'a' ? A : B)
    const tool = (): Promise<string> => agent.hook('a', 'before-tool', A)
    await agent.begin('a', lab.dir, '--session-id', A)
    expect(await prompt('a')).toBe('')
    await agent.begin('b', lab.dir, '--session-id', B)
    await agent.inside('b', 'report', '"fix the parser"')

    // An agent that the agent has started is another one, and hears nothing of it.
    await agent.tell('a', `FA_DO=prompt claude --session-id ${N}`)
    expect(readFileSync(join(lab.agentDir, 'heard'), 'utf8')).toBe('')
    // Of two prompts at once, which both have looked before either wrote down what it tells, one tells it.
    const slow = `FA_HOOK=${resolve('dist/test/dist')}; export HOLDFAST_FAILPOINTS=before:agentInbox.recordTold=delay:300`
    const both = await agent.tell('a', `(${slow}; ${hookLine('prompt', A)} & ${hookLine('prompt', A)} & wait)`)
    expect(heard(both)).toBe('Holdfast: b (claude, says: "fix the parser") joined you here (holdfast siblings --here)')
    expect(await prompt('a')).toBe('')
    expect(heard(await prompt('b'))).toBe('Holdfast: at work here too: a (claude) (holdfast siblings --here)')

    await agent.inside('b', 'message', 'a', 'one')
    expect(heard(await tool(), 'PreToolUse')).toBe('Holdfast: 1 message from b waits: holdfast inbox, or the MCP tool inbox')
    expect([await tool(), await prompt('a')]).toEqual(['', ''])
    await agent.inside('b', 'message', 'a', 'two')
    expect(heard(await prompt('a'))).toBe('Holdfast: 2 messages wait, the newest from b: holdfast inbox, or the MCP tool inbox')
    expect(await tool()).toBe('')
    await agent.inside('b', 'message', 'a', 'three')
    expect(await agent.inside('a', 'inbox')).toContain('three')
    expect([await tool(), await prompt('a')]).toEqual(['', ''])

    // Another id is no other sibling.
    await lab.ok(['rebind', '--session', 'b', '--to', 'bee'])
    expect(await prompt('a')).toBe('')
    // It goes where the first one is: it is fenced off, and both hear of it.
    expect(heard(await agent.hook('b', 'prompt', A))).toMatch(
      /^Holdfast: session bee, .* was fenced off \(by holdfast: it went to the claude session /,
    )
    expect(await agent.hook('b', 'prompt', A)).toBe('')
    expect(heard(await prompt('a'))).toMatch(/^Holdfast: session bee has just gone to your conversation .* holdfast stop bee$/)
    await lab.ok(['stop', 'bee'])
    expect(heard(await prompt('a'))).toBe('Holdfast: bee left (holdfast siblings --here)')
    expect(await prompt('a')).toBe('')
  }))

test('a prompt looks at the processes of those who work here only, and tells of one that was killed without a record that it left', () =>
  inLab(async (lab) => {
    const agent = obedient(lab)
    await agent.begin('a', lab.dir, '--session-id', A)
    await agent.begin('far', lab.newDir(), '--session-id', N)
    const watched = (point: string): Promise<string> =>
      agent.tell(
        'a',
        `printf '{"session_id":"${A}"}' | HOLDFAST_FAILPOINTS=before:${point}=say "$HOLDFAST_NODE" ${resolve('dist/test/dist/hook.cjs')} claude prompt 2>&1`,
      )
    expect(await watched('processes.sample')).toBe('')
    await agent.begin('b', lab.dir, '--session-id', B)
    expect(await watched('processes.sample')).toMatch(/^failpoint processes\.sample\n.*b \(claude\) joined you here/)
    const { pid, keeper } = await lab.unguarded('b')
    for (const one of [keeper, pid]) process.kill(one, 'SIGKILL')
    await until('the killed are gone', () => [keeper, pid].every((one) => !existsSync(`/proc/${one}`)) || null)
    // It is not the prompt's to record it.
    const said = await watched('store.claims.recordEnded')
    expect(heard(said)).toBe('Holdfast: b left (holdfast siblings --here)')
    expect(await agent.hook('a', 'prompt', A)).toBe('')
    expect((await lab.status('b')).state).toBe('lost')
    expect(await agent.hook('a', 'prompt', A)).toBe('')
  }))
