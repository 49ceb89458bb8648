import { nearest, Problem } from '../../../model/index.ts'
import type { World } from '../../world/world.ts'
import { unfitAsArgument } from '../prompt.ts'
import type { StartRequest } from '../request.ts'
import { asksForBudget, uncounted } from './budget.ts'
import type { Check } from './check.ts'

/** Configuration that was not understood is not left out in silence: an agent may rely on it. */
export const configInvalid: Check<'command'> = {
  name: 'config-invalid',
  when: ['command'],
  check: ({ world }) => {
    world.ownHarnesses()
    const trouble = world.configTrouble()
    return trouble === null
      ? null
      : new Problem('config-invalid', trouble, { hint: 'put it right, and say it again; stop, ls and status go on without it' })
  },
}

export const promptWithoutAgent: Check<'command'> = {
  name: 'prompt-without-agent',
  when: ['command'],
  check: ({ asked }) =>
    asked.harness === undefined && asked.adopt === undefined && asked.prompt !== undefined
      ? new Problem('prompt-unsupported', 'a prompt is for an agent that Holdfast knows how to talk to', {
          hint: 'holdfast run --prompt TEXT claude',
        })
      : null,
}

export const agentUnknown: Check<'command'> = {
  name: 'agent-unknown',
  when: ['command'],
  check: ({ world, asked, named }) => {
    const { harness: name, adopt } = asked
    if (name === undefined) return mistypedAgent(world, asked)
    if (named !== null || adopt !== undefined || name === 'generic') return null
    const names = world.harnesses().map((one) => one.name)
    const near = nearest(name, names)
    return new Problem('agent-unknown', `Holdfast does not know an agent called ${JSON.stringify(name)}`, {
      hint: `${near === null ? '' : `did you mean ${near}? `}it knows ${names.join(', ')}; others can be described in config.toml, or started with: holdfast run -- COMMAND…`,
    })
  },
}

/** Told before anything is on record: what was mistyped leaves no session. */
function mistypedAgent(
  { directories, env, harnesses }: Pick<World, 'directories' | 'env' | 'harnesses'>,
  { argv: [program = ''], mayBeAgent, adopt }: StartRequest,
): Problem | null {
  if (mayBeAgent !== true || adopt !== undefined || program.includes('/')) return null
  const near = nearest(
    program,
    harnesses().map(({ name }) => name),
  )
  if (near === null || near === program || directories.program(program, '/', env['PATH']) !== null) return null
  return new Problem('agent-unknown', `there is no agent and no program called ${JSON.stringify(program)}`, {
    hint: `did you mean ${near}? holdfast run ${near}`,
  })
}

export const agentMissing: Check<'command'> = {
  name: 'agent-not-installed',
  when: ['command'],
  check: ({ named, program }) =>
    named === null || program !== null
      ? null
      : new Problem('agent-not-installed', `${named.title} is not installed: there is no ${named.commands.join(' or ')} on PATH`, {
          hint: 'install it, or say where it is: holdfast run -- /path/to/COMMAND…',
        }),
}

/** Where the harness lets us choose the id, a conversation that was never begun begins under its id. */
export const conversationMissing: Check<'command'> = {
  name: 'conversation-missing',
  when: ['command'],
  check: ({ asked: { resume }, named, begins }) =>
    named === null || resume === undefined || begins === 'resume' || named.speech.preset !== null
      ? null
      : new Problem(
          'conversation-missing',
          `${named.title} has no session ${resume.native} here: it was never given a prompt, or lies in another home`,
          {
            hint: `start a new one: holdfast run ${named.name}`,
          },
        ),
}

export const resumeUnsupported: Check<'command'> = {
  name: 'resume-unsupported',
  when: ['command'],
  check: ({ asked: { resume }, named, begins }) =>
    named === null || begins === 'start' || named.speech.resume !== null || resume?.native === null
      ? null
      : new Problem('resume-unsupported', `${named.title} cannot resume a session by its id`, {
          hint: `start a new one: holdfast run ${named.name}`,
        }),
}

export const promptUnreadable: Check<'command'> = {
  name: 'prompt-unreadable',
  when: ['command'],
  check: ({ named, prompt }) => {
    const read = named === null ? null : prompt()
    return read instanceof Problem ? read : null
  },
}

export const promptUnfit: Check<'command'> = {
  name: 'prompt-unfit',
  when: ['command'],
  check: ({ named, prompt }) => {
    const read = named === null || named.speech.headless?.prompt === 'stdin' ? null : prompt()
    return named === null || read === null || read instanceof Problem ? null : unfitAsArgument(read, named.title)
  },
}

export const promptUnsupported: Check<'command'> = {
  name: 'prompt-unsupported',
  when: ['command'],
  check: ({ asked, named, begins }) =>
    named === null || asked.prompt === undefined || asked.resume?.native === null || named.speech.headless?.[begins]
      ? null
      : new Problem('prompt-unsupported', `${named.title} takes no prompt without a terminal${begins === 'resume' ? ' when it resumes' : ''}`),
}

export const budgetUncounted: Check<'command'> = {
  name: 'budget-uncounted',
  when: ['command'],
  check: ({ world, asked, spoken }) => (!asksForBudget(asked) || asked.resume?.native === null ? null : uncounted(world, asked, spoken())),
}
