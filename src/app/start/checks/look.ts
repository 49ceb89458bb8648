import { isAbsolute } from 'node:path'
import { Problem } from '../../../model/index.ts'
import { inUseBy } from '../beside-unmanaged.ts'
import { choosesAnother, conversationLeft as leftBy } from '../conversation-left.ts'
import { type Effect, rivalsOf } from '../look.ts'
import type { Plan } from '../plan.ts'
import type { Check } from './check.ts'
import { newestInUse, ownedAlready } from './conversation-owners.ts'
import { maybeOwned } from './conversation-untold.ts'
import { takeoverBlind, unresumable } from './unresumable.ts'

/** A terminal interface without a terminal does nothing, or worse. A live owner is named first. */
export const terminalMissing: Check<Effect> = {
  name: 'agent-needs-terminal',
  when: ['retire', 'settle', 'claim'],
  check: ({ plan: { spoken } }) =>
    spoken.needsTerminal === true && spoken.harness !== null
      ? new Problem('agent-needs-terminal', `${spoken.harness.title} needs a terminal here, and a detached run has none`, {
          hint: `host it in tmux: --tmux; or use its form without a terminal: --prompt TEXT; or say it as it stands: -- ${spoken.harness.name} …`,
        })
      : null,
}

/** A live owner is named first, and never ended for a conversation that could not go on. */
export const conversationUnknown: Check<Effect> = {
  name: 'conversation-unknown',
  when: ['retire', 'settle', 'claim'],
  check: ({ plan: { world, spoken, session }, decision }) =>
    spoken.unresumable !== true || spoken.harness === null
      ? null
      : decision.kind === 'retire'
        ? takeoverBlind(world, spoken.harness, decision.run)
        : unresumable(spoken.harness, session),
}

/** A missing program is told before an owner is ended for it. Where there is none, the launch tells it, and the record of the run. */
export const programMissing: Check<'retire'> = {
  name: 'program-missing',
  when: ['retire'],
  check: ({ plan }) => {
    const { world, request, directory } = plan
    const [program = ''] = request.argv
    if (request.adopt !== undefined || mayComeWithWorktree(plan, program)) return null
    return world.directories.program(program, directory.path, world.env['PATH']) === null
      ? new Problem('program-missing', `cannot start ${program}: not found or not executable; the current owner was not stopped`)
      : null
  },
}

/** A program that is found from the directory can be missing only when the directory is there. */
function mayComeWithWorktree({ unmade, world }: Plan, program: string): boolean {
  const places = program.includes('/') ? [program] : (world.env['PATH'] ?? '').split(':')
  return unmade !== null && places.some((path) => !isAbsolute(path))
}

/** Two agents in one directory are a risk; two in one conversation are the harm itself. */
export const conversationNewest: Check<Effect> = {
  name: 'conversation-newest-in-use',
  when: ['retire', 'settle', 'claim'],
  check: ({ plan: { world, spoken, directory, session } }) =>
    spoken.harness !== null && spoken.continues ? newestInUse(world, spoken.harness, directory, session) : null,
}

export const conversationOwned: Check<Effect> = {
  name: 'conversation-in-use',
  when: ['retire', 'settle', 'claim'],
  check: async ({ plan }) => {
    const { world, request, spoken, session } = plan
    // A takeover ends them first.
    const rivals = request.onLive === 'takeover' ? (await rivalsOf(plan)).map((run) => run.session) : []
    const { harness, native, names } = spoken
    const carried = harness === null || native === null ? names : [{ harness: harness.name, id: native }]
    for (const one of request.adopt === undefined ? carried : []) {
      const except = [session, ...rivals]
      const problem = await ownedAlready(world, one, except, request.allowUnmanaged === true)
      if (problem !== null) return problem
      const doubt = request.force === true ? null : await maybeOwned(world, one, { except, unmanaged: request.allowUnmanaged === true })
      if (doubt !== null) return doubt
    }
    return null
  },
}

export const agentsBeside: Check<Effect> = {
  name: 'agents-beside',
  when: ['retire', 'settle', 'claim'],
  check: async ({ plan, unmanaged }) => {
    const [first, ...more] = plan.request.allowUnmanaged === true ? [] : await unmanaged()
    return first === undefined ? null : inUseBy(plan, [first, ...more])
  },
}

/** Nothing takes the place of a conversation in silence. A task begins anew each time, and its caller is told. */
export const conversationLeft: Check<Effect> = {
  name: 'conversation-would-be-left',
  when: ['retire', 'settle', 'claim'],
  check: ({ plan, known, last }) => {
    if (plan.request.newConversation === true || plan.request.task !== undefined || choosesAnother(plan)) return null
    const left = leftBy(plan, known, last)
    if (left === null) return null
    return new Problem(
      'conversation-would-be-left',
      `session ${plan.session} has a conversation (${left}), and this start would leave it for a new one`,
      {
        hint: `to go on with it: holdfast resume ${plan.session} · to begin a new one: add --new`,
        detail: { session: plan.session, conversation: left, harness: known?.harness ?? null },
      },
    )
  },
}

export const insideOwner: Check<'retire'> = {
  name: 'inside-owner',
  when: ['retire'],
  check: ({ plan, decision }) =>
    decision.kind === 'retire' && plan.ancestors.includes(decision.run.id)
      ? new Problem('owner-around-caller', `this command runs inside session ${decision.run.session}, which it would have to end first`, {
          hint: 'take it over from outside',
        })
      : null,
}
