import { asksForBudget, findSession, refuseSamePrompt, resumptionOf, type World, wasShared } from '../../app/index.ts'
import type { Command } from '../command.ts'
import { oneWord, type Parsed } from '../options.ts'
import { begin } from '../start/begin.ts'
import { CHOICES } from '../start/choices.ts'
import { requestOf } from '../start/request.ts'

export const restart: Command = {
  name: 'restart',
  group: 'start and end',
  summary: 'end a session and start its next run in the same way',
  forms: ['[OPTION…] S [-- ARG…]'],
  arguments: [{ name: 'S', thing: 'session', about: 'the session' }],
  options: CHOICES,
  handlesConfigTrouble: true,
  isStart: true,
  more: () => ({
    description: [
      'Ends the live run of a session, sees it gone, and starts the next one.',
      'The new run keeps how the old one was started: detached or in a pane, --until, --timeout, --budget and --share.',
      'A session whose prompt stood on its command line is refused, since its work would be done twice; --prompt gives another one.',
    ],
    examples: [
      ['restart api', 'The agent of api is ended with all it started, and continues its conversation.'],
      ['restart api --timeout 2h', 'The next run has another time limit.'],
    ],
    exits: {
      done: 'the detached run was started, the pane was left, or the agent ended with 0',
      badCommand: 'wrong words, or the prompt would be done twice',
      notFound: 'no such session, or its directory or program is gone',
      held: 'its directory or its conversation has another live owner',
      unproven: 'the old owner cannot be proven dead; --force replaces it in your name',
      survivors: 'not every process of the old run could be ended',
    },
    otherExits: "A foreground run gives the agent's own code, and 128 plus the signal's number after a signal.",
  }),
  run: restartVerb,
}

/** The next run is started as the old one was: detached, until when, for how long. */
async function restartVerb(world: World, parsed: Parsed): Promise<number> {
  const view = await findSession(await world.store('writer'), oneWord(parsed, 'restart'), 'near')
  if (parsed.command === null && !parsed.values.has('prompt-file') && !parsed.values.has('prompt')) refuseSamePrompt(world, view)
  const request = requestOf(parsed, await resumptionOf(world, view.session.id, parsed.command, { dir: parsed.values.get('dir'), ends: true }))
  const { run } = view
  const timeoutMs = request.timeoutMs ?? (run === null || run.deadlineAt === null ? undefined : run.deadlineAt - run.startedAt)
  return begin(world, parsed, {
    ...request,
    onLive: 'takeover',
    detach: request.detach || (run?.detached === true && run.tmux === null),
    tmux: request.tmux === true || (run !== null && run.tmux !== null),
    until: request.until ?? run?.until,
    share: request.share === true || (run !== null && (await wasShared(world, run.id))),
    timeoutMs,
    ...(asksForBudget(request) || run === null ? {} : { budget: run.budget ?? undefined, budgetCost: run.budgetCost ?? undefined }),
  })
}
