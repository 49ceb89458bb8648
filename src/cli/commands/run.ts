import { knownAgents, type World } from '../../app/index.ts'
import type { Command } from '../command.ts'
import { flag, type Parsed, value } from '../options.ts'
import { begin } from '../start/begin.ts'
import { CHOICES } from '../start/choices.ts'
import { requestOf } from '../start/request.ts'

export const run: Command = {
  name: 'run',
  group: 'start and end',
  summary: 'start a session: an agent that Holdfast knows, or any command',
  forms: ['[OPTION…] AGENT [ARG…]', '[OPTION…] -- COMMAND…'],
  arguments: [{ name: 'AGENT', thing: 'command', about: 'an agent with its own arguments; behind -- any command, unchanged', many: true }],
  options: [
    value('session', 'S', 'session', 'start the next run of this session; an unknown id makes a new session'),
    value('name', 'NAME', 'text', 'another name for the session; without --session also its id'),
    flag('new', 'begin a new conversation in a session that has one; the id of the old one still finds it'),
    {
      kind: 'maybe',
      name: 'worktree',
      value: 'BRANCH',
      thing: 'text',
      about: 'work in a linked git worktree of its own, for this branch or a new one',
    },
    ...CHOICES,
  ],
  takesCommand: true,
  handlesConfigTrouble: true,
  isStart: true,
  more: () => ({
    description: [
      'Starts the next run of a session and keeps exactly one live owner on it.',
      'The name of a known agent starts that agent, with its arguments passed on; Holdfast chooses its session id where the agent allows it.',
      `Known agents: ${knownAgents().join(', ')}; config.toml can describe others.`,
      'A session with a live owner is refused and the owner is named, unless --takeover, --attach or --wait says otherwise.',
      'A session that has a conversation begins a new one only with --new, or when a person at the terminal agrees.',
    ],
    examples: [
      ['run --name api claude', 'Claude Code starts as session api, in this directory and on this terminal.'],
      ['run -d --budget 500k --prompt-file task.md codex', 'Codex works on the prompt in the background, with a limit.'],
      ['run --tmux --worktree=fix/login --name web claude', 'The agent gets a pane that people can join, and a worktree of its own.'],
      ['run -- ./my-agent --flag', 'Any command can be a session; its own options follow it.'],
    ],
    exits: {
      done: 'the detached run was started, the pane was left, or the agent ended with 0',
      badCommand: 'wrong words, or a detached agent that would show its terminal interface',
      notFound: 'the directory, the program or the prompt file does not exist',
      unavailable: 'the store cannot be used, or no tmux server can host the run',
      held: 'the session, its directory or its conversation has a live owner',
      unproven: 'the old owner cannot be proven dead, or a live agent may have the conversation; --force starts in your name',
      survivors: 'a takeover could not end every process of the old owner',
    },
    otherExits: "A foreground run gives the agent's own code, and 128 plus the signal's number after a signal.",
  }),
  run: runVerb,
}

async function runVerb(world: World, parsed: Parsed): Promise<number> {
  const { values, command, literal } = parsed
  const [first = '', ...rest] = command ?? []
  // Said without `--`, the name of an agent that we know means that agent.
  const known = !literal && world.harnesses().some(({ name }) => name === first)
  const said = known ? { harness: first, argv: rest } : { argv: command ?? [], mayBeAgent: !literal }
  const base = { ...said, session: values.get('session'), name: values.get('name'), worktree: values.get('worktree') }
  return begin(world, parsed, { ...requestOf(parsed, base), newConversation: parsed.flags.has('new') })
}
