import { MAX_LINEAGE, Problem } from '../../../model/index.ts'
import { hostedElsewhere, unhosted } from '../../pane/hosting.ts'
import type { Check } from './check.ts'

export const tmuxUnavailable: Check<'caller'> = {
  name: 'tmux-unavailable',
  when: ['caller'],
  check: ({ world, asked }) => (asked.tmux === true ? unhosted(world) : null),
}

export const tmuxElsewhere: Check<'caller'> = {
  name: 'tmux-server-elsewhere',
  when: ['caller'],
  check: async ({ world, asked }) => {
    const namespaces = asked.tmux === true ? await world.panes.namespaces() : null
    return namespaces === null ? null : hostedElsewhere(namespaces)
  },
}

export const frontMissing: Check<'caller'> = {
  name: 'front-missing',
  when: ['caller'],
  check: ({ asked, front }) =>
    !asked.detach && asked.tmux !== true && front === null
      ? new Problem('front-missing', 'a run in the foreground needs the holdfast command', { hint: 'use bin/holdfast, or --detach' })
      : null,
}

export const nestedTooDeep: Check<'caller'> = {
  name: 'nesting-too-deep',
  when: ['caller'],
  check: ({ caller: { lineage } }) =>
    lineage.length >= MAX_LINEAGE
      ? new Problem('nesting-too-deep', `runs are nested ${lineage.length} deep; that looks like an agent that starts itself`, {
          hint: 'start it outside the session',
        })
      : null,
}

/** Asked before each step: waiting may take long. */
export const frontGone: Check<'step'> = {
  name: 'front-gone',
  when: ['step'],
  check: ({ front, world }) =>
    front !== null && world.own.parent() !== front.keeper.pid
      ? new Problem('front-gone', 'the command that waited for this plan is gone; nothing was started')
      : null,
}
