import { expect, test } from 'vitest'
import type { HoldfastEvent, NotifyKind } from '../../src/model/index.ts'
import { heldBackText, notificationText } from '../../src/show/index.ts'

const said = (as: NotifyKind, detail: HoldfastEvent['detail'], name = 'fix', most = 200) => notificationText(as, { detail }, name, most)

test('each kind has its words', () => {
  expect(said('input', { state: 'waiting' })).toEqual({ title: 'fix needs an answer', text: 'it asks for a permission, or has a question' })
  expect(said('input', { state: 'idle', lasted: 185_000 })).toEqual({
    title: 'fix has finished its turn',
    text: 'after 3m05s; it waits for the next prompt',
  })
  expect(said('input', { state: 'idle', before: 'waiting', lasted: 185_000 }).text).toBe(
    'after 3m05s since its question; it waits for the next prompt',
  )
  expect(said('finished', { state: 'failed', reason: 'exit code 3' })).toEqual({ title: 'fix ended: failed', text: 'exit code 3' })
  expect(said('refused', { wanted: 'directory', command: 'claude', pid: 7, user: 'ann@host' })).toEqual({
    title: 'fix has been kept to one owner',
    text: 'claude (pid 7, ann@host) wanted its directory, and was refused',
  })
  expect(said('budget', { reason: 'its budget was spent' }).title).toBe('fix has burned its budget')
  const unwatched = { why: 'idle', since: 1, harness: 'codex', pid: 7, task: 'fix.codex-7-1', tokens: 2500 }
  expect(said('unwatched', unwatched)).toEqual({
    title: 'fix spends tokens, and nobody watches',
    text: 'codex (pid 7) inside it has burned 2500 tokens; the agent of the session has handed back and waits',
  })
  expect(said('unwatched', { ...unwatched, why: 'keeper-gone', harness: null, pid: null, task: null }).text).toBe(
    'its agent has burned 2500 tokens; the keeper of the session is gone',
  )
  expect(said('orphan', { reason: 'why' })).toEqual({ title: 'fix was ended', text: 'why' })
  expect(notificationText('finished', { detail: { state: 'failed', reason: 'exit code 3' } }, 'fix', 200, 2)).toEqual({
    title: 'and 2 more: fix ended: failed',
    text: 'exit code 3',
  })
  expect(heldBackText(5).title).toBe('and 5 more')
})

test('what others wrote steers nothing, and is cut', () => {
  const { title, text } = said('finished', { state: 'failed', reason: `\u001B[31mred\n\u0007${'x'.repeat(500)}` }, 'a\u0000b\nc', 40)
  expect(title).toBe('a·b·c ended: failed')
  expect(text).toHaveLength(40)
  expect(text).toMatch(/^·\[31mred··x+…$/)
  // What an event does not say is not made up.
  expect(said('refused', {}).text).toBe('? (pid ?, ?) wanted its ?, and was refused')
})
