import { isCalled, seeDetail, unknownWithoutStore, type World } from '../../app/index.ts'
import { exitCode } from '../../model/index.ts'
import { sightJson, statusText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, oneWord, type Parsed } from '../options.ts'
import { pageFor, paintFor, print, printJson } from '../out.ts'
import { orWithoutStore, tellTrouble } from '../without-store.ts'

export const status: Command = {
  name: 'status',
  group: 'see',
  summary: 'show how one session stands',
  arguments: [{ name: 'S', thing: 'session', about: 'an id or name of the session, or the beginning of one' }],
  options: [flag('verbose', 'show everything that is known', 'v')],
  more: () => ({
    description: [
      'Shows state, agent, directory, tokens, since when, and how to join or resume it.',
      'With --verbose also its run, processes, tasks, containment (a cgroup, a systemd scope, or other proofs) and evidence.',
      'An end that is proven is recorded.',
      'Without a usable store the answer comes from the run directory, and the exit code is 69.',
    ],
    examples: [
      ['status api', 'Session api is shown in a few lines.'],
      ['status api --verbose', 'Everything about it is shown.'],
      ['status api --json', 'A program gets one object.'],
    ],
    exits: {
      done: 'the session was shown',
      notFound: 'no such session',
      unavailable: 'the store cannot be used; the answer is from the run directory',
    },
  }),
  run: statusVerb,
}

async function statusVerb(world: World, parsed: Parsed): Promise<number> {
  const reference = oneWord(parsed, 'status')
  const { views, trouble } = await orWithoutStore(
    world,
    async () => [await seeDetail(world, reference)],
    (candidate) => isCalled(world, candidate, reference),
  )
  const [sight] = views
  if (sight === undefined) throw unknownWithoutStore(reference, trouble)
  if (trouble !== null) tellTrouble(parsed, trouble)
  if (parsed.flags.has('json')) printJson(sightJson(sight))
  else print(statusText(sight, { now: world.clock.now(), paint: paintFor(1), page: pageFor(1), whole: parsed.flags.has('verbose') }))
  return trouble === null ? 0 : exitCode.unavailable
}
