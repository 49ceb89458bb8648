import { adopt as adoptProcess, type World } from '../../app/index.ts'
import { Problem } from '../../model/index.ts'
import type { Command } from '../command.ts'
import { flag, type Parsed, value } from '../options.ts'
import { report } from '../start/begin.ts'

export const adopt: Command = {
  name: 'adopt',
  group: 'start and end',
  summary: 'make a run of an agent that runs already, without restarting it',
  arguments: [{ name: 'PID', thing: 'pid', about: 'the process of the agent' }],
  options: [
    value('session', 'S', 'session', 'the session that it becomes a run of; an unknown id makes a new session'),
    value('name', 'NAME', 'text', 'another name for the session; without --session also its id'),
    flag('share', 'work beside the session that holds the directory; both show it'),
    flag('force', 'adopt a process that is no agent known to Holdfast'),
  ],
  handlesConfigTrouble: true,
  isStart: true,
  more: () => ({
    description: [
      'The agent becomes a run with its process tree and holds its directory, and stop ends it like any other.',
      'It has no keeper: its end is known only if Holdfast saw it, and is recorded as lost otherwise.',
      "The agent's own session id comes along where the agent proves it.",
      "A background session that an agent's own daemon keeps is refused, since that daemon would start it again.",
    ],
    examples: [
      ['adopt 4711 --name api', 'The agent with pid 4711 becomes session api and goes on undisturbed.'],
      ['ls --unmanaged', 'Agents that can be adopted are listed with their pids.'],
    ],
    exits: {
      done: 'the agent is a run now',
      badCommand: 'wrong words, or the process is no known agent',
      notFound: 'no such process',
      held: 'the session, the directory or the conversation has a live owner',
      unproven: 'the process or an owner cannot be judged',
    },
  }),
  run: adoptVerb,
}

async function adoptVerb(world: World, parsed: Parsed): Promise<number> {
  const [text = '', ...more] = parsed.words
  if (!/^\d{1,7}$/.test(text) || more.length > 0)
    throw new Problem('arguments-wrong', 'adopt takes the pid of one agent', { hint: 'holdfast run names those that are in the way' })
  const { flags, values } = parsed
  const about = { session: values.get('session'), name: values.get('name'), share: flags.has('share'), force: flags.has('force') }
  return report(await adoptProcess(world, { pid: Number(text), ...about }), world, parsed, 'adopted')
}
