import { type World, whoAmI } from '../../app/index.ts'
import { exitCode } from '../../model/index.ts'
import { whoJson, whoText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { noWords, type Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'

export const whoami: Command = {
  name: 'whoami',
  group: 'together',
  summary: 'tell which session you are in, and the proof',
  arguments: [],
  options: [],
  more: () => ({
    description: [
      'Tells the session around this command and the proof: cookie, marker, process or registry.',
      'A nested agent is itself, and not its parent. A copied environment proves nothing.',
      'An agent that was taken over is in no session.',
    ],
    examples: [
      ['whoami', 'The session around this command is named.'],
      ['whoami --json', 'A program gets session, run, epoch, dir and the proof.'],
    ],
    exits: { done: 'the session was named', notFound: 'the command is in no session' },
  }),
  run: whoamiVerb,
}

async function whoamiVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'whoami')
  const self = await whoAmI(world)
  if (parsed.flags.has('json')) printJson(whoJson(self))
  else print(whoText(self))
  return self.kind === 'session' ? exitCode.done : exitCode.notFound
}
