import { seeOne, type World } from '../../app/index.ts'
import { isLive, Problem } from '../../model/index.ts'
import type { Command } from '../command.ts'
import { oneWord, type Parsed } from '../options.ts'
import { follow } from '../start/follow.ts'
import { isHosted, join } from '../start/join.ts'

export const attach: Command = {
  name: 'attach',
  group: 'start and end',
  summary: 'join a session in its tmux pane, or follow a detached one',
  arguments: [{ name: 'S', thing: 'live-session', about: 'the session' }],
  options: [],
  more: () => ({
    description: [
      'A session that run --tmux started is joined in its pane: C-b d leaves it, C-b [ scrolls.',
      'Leaving, closing the window or killing the client never touches the agent.',
      'For a detached session without a pane the command follows the log, and Ctrl-C leaves it running.',
      'A session in the foreground of another terminal can be taken over, but not attached.',
    ],
    examples: [
      ['attach web', 'This terminal shows the pane of session web.'],
      ['run --tmux --name web claude', 'The session gets a pane and is joined at once.'],
    ],
    exits: {
      done: 'the pane or the log was left',
      badCommand: 'wrong words, or there is no terminal to join a pane from',
      notFound: 'no such session, or it is not running',
      held: 'the session runs in the foreground of another terminal',
    },
    otherExits: "If the agent ends meanwhile, the code is the agent's own, or 128 plus the signal's number.",
  }),
  run: attachVerb,
}

async function attachVerb(world: World, parsed: Parsed): Promise<number> {
  const reference = oneWord(parsed, 'attach')
  const { run } = await seeOne(world, reference)
  if (!isLive(run))
    throw new Problem('session-not-running', `session ${run.session} is not running (${run.state}: ${run.reason})`, {
      hint: `holdfast resume ${run.session} starts its next run; holdfast logs ${run.session} shows its output`,
    })
  if (isHosted(run)) return join(world, run)
  if (!run.detached)
    throw new Problem(
      'session-in-foreground',
      `session ${run.session} runs in the foreground on ${run.tty ?? 'another terminal'}; it can be taken over, not attached`,
      { hint: `holdfast resume ${run.session} --takeover` },
    )
  return follow(world, run.session, run.id)
}
