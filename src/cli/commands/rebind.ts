import { mySession, rebind as rebindSession, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import type { Command } from '../command.ts'
import { noWords, type Parsed, value } from '../options.ts'
import { print, printJson, say } from '../out.ts'

export const rebind: Command = {
  name: 'rebind',
  group: 'together',
  rare: true,
  summary: 'move a session to its true id; the old id still finds it',
  forms: ['[--session S] --to ID'],
  arguments: [],
  options: [value('session', 'S', 'session', 'the session; without it, the session around this command'), value('to', 'ID', 'text', 'its true id')],
  more: () => ({
    description: [
      'Everything of the session moves to the new id at once, and the old id still finds it.',
      'Tasks that are named after the session (S.review) move along.',
      'The id of a session that is over is taken, and that session is called ID.before-1 from then on.',
      'An agent that shows another id by itself (/resume, fork) needs no rebind.',
    ],
    examples: [
      ['rebind --session api --to 0b9e2f7c', 'Session api has the id 0b9e2f7c from now on.'],
      ['rebind --to 0b9e2f7c', 'The session around this command moves to that id.'],
    ],
    exits: {
      done: 'the session has that id',
      notFound: 'no such session, or the command is in none',
      held: 'another live session has that id',
      unproven: 'a session with that id cannot be proven gone',
    },
  }),
  run: rebindVerb,
}

async function rebindVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'rebind')
  const to = parsed.values.get('to')
  if (to === undefined)
    throw new Problem('option-missing', 'rebind needs the true id of the session', { hint: 'holdfast rebind [--session S] --to ID' })
  const session = parsed.values.get('session') ?? (await mySession(world, 'be rebound')).session.id
  const rebound = await rebindSession(world, session, to, `${world.user()}@${world.host}`)
  if (parsed.flags.has('json')) printJson(rebound)
  else {
    print([
      rebound.changed
        ? `session ${rebound.from} is ${rebound.session} from now on; its old id still finds it`
        : `session ${rebound.session} has that id`,
    ])
    if (rebound.aside !== null) say(`the session that was over and had this id is ${rebound.aside} from now on`)
  }
  return exitCode.done
}
