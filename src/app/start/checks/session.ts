import { isLive, Problem, type Run } from '../../../model/index.ts'
import { carriedBy } from '../../lock/refusal-message.ts'
import { unreadableRefusal } from '../../recover/unreadable-runs.ts'
import type { Check } from './check.ts'

/** An agent whose directory and session nobody knows may be the very one that the start would meet. */
export const runUnreadable: Check<'session'> = {
  name: 'run-record-unreadable',
  when: ['session'],
  check: ({ world, request }) => unreadableRefusal(world, request.force === true),
}

export const nameTaken: Check<'session'> = {
  name: 'name-taken',
  when: ['session'],
  again: 'name',
  check: async ({ store, request: { name, session }, known }) => {
    const holder = name === undefined ? null : await store.sessions.find(name, 'exact')
    return holder?.kind === 'found' && holder.view.session.id !== (known?.id ?? session) ? takenBy(name, holder.view.session.id) : null
  },
}

export const takenBy = (name: string | undefined, by = 'another one'): Problem =>
  new Problem('name-taken', `the name ${name} is taken by session ${by}`, { hint: `to start its next run: holdfast resume ${name}` })

export const parentEnding: Check<'session'> = {
  name: 'parent-ending',
  when: ['session'],
  again: 'parent',
  check: ({ request, caller: { parent } }) =>
    parent !== null && request.independent !== true && (!isLive(parent) || parent.state === 'stopping') ? endingAround(parent) : null,
}

export const endingAround = (parent: Run | null): Problem =>
  new Problem('parent-ending', `the session around this command (${parent?.session}) is ending; nothing is started in it any more`, {
    hint: 'start it outside, or with --independent',
  })

/** A script may start several agents: none of their conversations is another live session's. */
export const conversationsNamed: Check<'session'> = {
  name: 'conversations-named',
  when: ['session'],
  check: async ({ world, store, request, spoken: { harness, names }, known }) => {
    for (const native of harness === null ? names : []) {
      const owner = await store.conversations.owner(native)
      const isOwn = owner === null || owner.session.id === (known?.id ?? request.session)
      if (!isOwn && owner.run !== null && isLive(owner.run)) return carriedBy(world, `${native.harness} session ${native.id}`, owner.run)
    }
    return null
  },
}

/** One conversation is one session's. An adopted agent carries its conversation already: if that session lives, the claim says so. */
export const conversationElsewhere: Check<'session'> = {
  name: 'conversation-of-other-session',
  when: ['session'],
  again: 'native',
  check: ({ world, request, spoken: { harness, native }, owner, known }) => {
    if (request.adopt !== undefined || owner === null || owner.session.id === (known?.id ?? request.session)) return null
    const { run } = owner
    if (run !== null && isLive(run)) return carriedBy(world, `${harness?.title} session ${native}`, run)
    return new Problem('conversation-of-other-session', `the ${harness?.title} session ${native} is that of session ${owner.session.id}`, {
      hint: `to go on with it: holdfast resume ${owner.session.id}`,
    })
  },
}
