import { seeTree, type World } from '../../app/index.ts'
import { isLive } from '../../model/index.ts'
import { memberJson, sparedJson, suspectJson, taskJson, taskText, treeText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { flag, oneWord, type Parsed } from '../options.ts'
import { paintFor, print, printJson } from '../out.ts'

export const tree: Command = {
  name: 'tree',
  group: 'see',
  summary: 'show the processes of a session, with the proof for each',
  arguments: [{ name: 'S', thing: 'live-session', about: 'the session' }],
  options: [flag('suspects', 'also show processes that only look related, with the reasons')],
  more: () => ({
    description: [
      'Shows each member with its proof: cgroup, marker, cookie, recorded, harness-id, descendant, session or journal.',
      'The ports that a member listens on are shown with it.',
      'A suspect works in the directory or on the ports of the session, and no proof connects it; nothing ends it without your word.',
    ],
    examples: [
      ['tree api', 'The processes of session api are shown.'],
      ['tree api --suspects', 'Processes that only look related are shown too; stop --suspect PID ends one.'],
    ],
    exits: { done: 'the tree was shown', notFound: 'no such session' },
  }),
  run: treeVerb,
}

async function treeVerb(world: World, parsed: Parsed): Promise<number> {
  const seen = await seeTree(world, oneWord(parsed, 'tree'), parsed.flags.has('suspects'))
  const { sight, tasks } = seen
  const paint = paintFor(1)
  if (parsed.flags.has('json'))
    printJson({
      session: sight.session.id,
      run: sight.run.id,
      state: sight.run.state,
      members: seen.members.map(memberJson),
      spared: seen.spared.map(sparedJson),
      suspects: seen.suspects.map(suspectJson),
      tasks: tasks.map(({ task, members }) => ({ ...taskJson(task), members: members.map(memberJson) })),
    })
  else
    print([
      ...(isLive(sight.run) ? [] : [`${sight.session.id} is not running`]),
      ...(sight.liveness === 'unknown' ? [`${sight.session.id} cannot be looked at from here: ${sight.note ?? ''}`] : treeText(seen, paint)),
      ...tasks.flatMap(({ task, members }) => [
        `${task.run.task === null ? 'run in it' : 'task'} ${taskText(task, world.clock.now())}`,
        ...treeText({ members, spared: [], suspects: [] }, paint).map((line) => `  ${line}`),
      ]),
    ])
  return 0
}
