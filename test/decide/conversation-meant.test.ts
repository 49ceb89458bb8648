import { expect, test } from 'vitest'
import { conversationMeant } from '../../src/decide/index.ts'
import { verifies } from '../requirements.ts'

const [A, A2, B] = ['aaaa1111-0', 'aaaa2222-0', 'bbbb-0']
const session = { id: 'api', name: 'web', native: B }
const aliases = [A, A2, B, 'web', 'old-name'].map((alias) => ({ alias, former: false }))
const there = { isThere: (id: string) => [A, A2, B].includes(id), isLike: (id: string) => id.endsWith('-0') }

verifies(
  'named',
  'the beginning of an id names the conversation that has it, the session by its own names, or is refused with the candidates',
  () => {
    const meant = (reference: string) => conversationMeant(reference, session, aliases, there)
    expect(meant(A)).toEqual({ kind: 'conversation', id: A })
    expect(meant('aaaa1')).toEqual({ kind: 'conversation', id: A })
    expect(meant('aaaa')).toEqual({ kind: 'ambiguous', ids: [A, A2] })
    for (const own of ['api', 'ap', 'web', B, 'bb', 'old-name']) expect(meant(own), own).toEqual({ kind: 'session' })
    // Where names and conversations begin alike, none of them is guessed.
    expect(meant('a')).toEqual({ kind: 'ambiguous', ids: ['api', A, A2] })
  },
)

test('an id that was the session’s own names an earlier conversation only where that is there', () => {
  const former = [{ alias: A, former: true }]
  expect(conversationMeant(A, session, former, there)).toEqual({ kind: 'conversation', id: A })
  expect(conversationMeant(A, session, former, { ...there, isThere: () => false })).toEqual({ kind: 'session' })
})

test('a session that is called by the id of a conversation that it has left says two things', () => {
  expect(conversationMeant(A, { id: A, name: null, native: B }, [], there)).toEqual({ kind: 'ambiguous', ids: [A, B] })
  expect(conversationMeant(A, { id: A, name: null, native: A }, [], there)).toEqual({ kind: 'session' })
})
