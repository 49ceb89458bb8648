import { seeTasks, startTask, type World } from '../../app/index.ts'
import { Problem } from '../../model/index.ts'
import { ownedTaskJson, startedTaskJson, tasksText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { type Parsed, value } from '../options.ts'
import { paintFor, print, printJson } from '../out.ts'
import { timeLimit } from '../values.ts'

export const task: Command = {
  name: 'task',
  group: 'start and end',
  summary: 'start a background run of the session around you, or list them',
  arguments: [],
  options: [],
  takesCommand: true,
  handlesConfigTrouble: true,
  isStart: true,
  subs: [
    {
      name: 'start',
      summary: 'start a task inside the session around you',
      forms: ['[OPTION…] -- COMMAND…'],
      arguments: [{ name: 'COMMAND', thing: 'command', about: 'the command with its arguments', many: true }],
      options: [
        value('name', 'NAME', 'text', 'the last part of its id, SESSION.NAME'),
        value('on-retire', 'WHAT', ['cancel', 'adopt'], 'at a takeover: end it (cancel, the default), or keep it for the new run'),
        value('timeout', 'DURATION', 'text', 'end the task after this time'),
        value('dir', 'DIR', 'directory', 'work in this directory'),
      ],
      takesCommand: true,
      run: startVerb,
    },
    {
      name: 'ls',
      summary: 'list tasks: of a session, of the session around you, or all live ones',
      arguments: [{ name: 'S', thing: 'session', about: 'the session', optional: true }],
      options: [],
      run: listVerb,
    },
  ],
  more: () => ({
    description: [
      'A task is a detached run with a log, inside a session; it ends with its session.',
      'With --name its id is SESSION.NAME; without, the id is made from the name of its program.',
      'The verbs status, logs, stop and wait take it like any other.',
      'At a takeover a task is ended as superseded, or goes on with the new run.',
    ],
    examples: [
      ['task start --name dev -- npm run dev', 'A dev server runs in the background and ends with the session.'],
      ['task start --on-retire adopt --timeout 1h -- ./index.sh', 'The task lives through a takeover, and one hour at most.'],
      ['task ls api', 'The tasks of session api are listed.'],
    ],
    exits: {
      done: 'the task was started, or the list was printed',
      badCommand: 'wrong words, or no session is around this command',
      notFound: 'no such session, directory or program',
      held: 'the id, the directory or the conversation has a live owner',
      unproven: 'an owner cannot be proven dead',
    },
  }),
}

async function startVerb(world: World, parsed: Parsed): Promise<number> {
  const onRetire = parsed.values.get('on-retire') ?? 'cancel'
  if (onRetire !== 'cancel' && onRetire !== 'adopt') throw new Problem('option-value-invalid', `--on-retire takes cancel or adopt, not ${onRetire}`)
  const started = await startTask(world, {
    name: parsed.values.get('name'),
    onRetire,
    argv: parsed.command ?? [],
    timeoutMs: timeLimit(parsed),
    dir: parsed.values.get('dir'),
  })
  if (started.kind !== 'running') throw new Problem('invariant-broken', `a task cannot be ${started.kind}`)
  const { run, harness } = started
  if (parsed.flags.has('json')) printJson(startedTaskJson(run, harness.pid))
  else print([`started ${run.session} (pid ${harness.pid}); holdfast stop ${run.session} ends it`])
  return 0
}

async function listVerb(world: World, parsed: Parsed): Promise<number> {
  if (parsed.words.length > 1) throw new Problem('arguments-wrong', 'task ls takes one session, or none')
  const tasks = await seeTasks(world, parsed.words[0] ?? null)
  if (parsed.flags.has('json')) printJson(tasks.map(ownedTaskJson))
  else print(tasksText(tasks, world.clock.now(), paintFor(1)))
  return 0
}
