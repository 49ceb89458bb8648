import { isCalled, type Listed, listSessions, logs, seeDetail, seeEvents, seeOne, seeTree, seeWithoutStore, type World } from '../app/index.ts'
import { exitCode, isLive, Problem } from '../model/index.ts'
import {
  duplicateAdvice,
  duplicateText,
  eventJson,
  eventText,
  managedJson,
  memberJson,
  type Sight,
  sessionsText,
  sightJson,
  sparedJson,
  statusText,
  suspectJson,
  taskJson,
  taskText,
  treeText,
  unmanagedJson,
  unmanagedText,
  unreadableText,
} from '../show/index.ts'
import { follow } from './follow.ts'
import { isHosted, join } from './join.ts'
import { noWords, oneWord, type Parsed } from './options.ts'
import { paintFor, print, printJson, say, sayProblem, write } from './out.ts'

export async function lsVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'ls')
  const only = parsed.flags.has('unmanaged')
  const all = parsed.flags.has('all')
  let degraded = false
  const look = async (): Promise<Listed> => {
    let listed: Listed | null = null
    const sights = await orWithoutStore(
      world,
      () => {
        degraded = true
      },
      async () => {
        listed = await listSessions(world, all ? 'all' : 'live', all || only)
        for (const run of listed.unreadable) say(unreadableText(run, world.runRecords.path(run)))
        return [...listed.sights]
      },
    )
    if (degraded && (all || only)) say('which agents are not managed cannot be told without the store')
    return listed ?? { sights, unmanaged: [], duplicates: [], unreadable: [] }
  }
  if (parsed.flags.has('json')) {
    const { sights, unmanaged } = await look()
    // Sessions and others are never in one array: who reads the one knows nothing of the other.
    printJson(only ? unmanaged.map(unmanagedJson) : sights.map(managedJson))
    return degraded ? exitCode.unavailable : 0
  }
  if (!parsed.flags.has('watch')) {
    const listed = await look()
    print(listText(world, listed, only))
    for (const duplicate of listed.duplicates) say(`${duplicateText(duplicate)}; ${duplicateAdvice(duplicate)}`)
    return degraded ? exitCode.unavailable : 0
  }
  for (;;) {
    const listed = await look()
    const lines = [...listText(world, listed, only), ...listed.duplicates.map(duplicateText)]
    write(1, `\u001B[H\u001B[2J${lines.join('\n')}\n`)
    await world.clock.sleep(1000)
  }
}

function listText(world: World, { sights, unmanaged }: Listed, only: boolean): string[] {
  const now = world.clock.now()
  const paint = paintFor(1)
  const others = unmanagedText(unmanaged, now, paint)
  return only ? others : [...sessionsText(sights, now, paint), ...(unmanaged.length === 0 ? [] : ['', 'not managed by Holdfast:', ...others])]
}

export async function statusVerb(world: World, parsed: Parsed): Promise<number> {
  const reference = oneWord(parsed, 'status')
  let degraded = false
  const [sight] = await orWithoutStore(
    world,
    () => {
      degraded = true
    },
    async () => [await seeDetail(world, reference)],
    (candidate) => isCalled(world, candidate, reference),
  )
  if (sight === undefined)
    throw new Problem('session-unknown-without-store', `the store cannot be used, and no run directory shows a live session ${reference}`)
  if (parsed.flags.has('json')) printJson(sightJson(sight))
  else print(statusText(sight, world.clock.now(), paintFor(1)))
  return degraded ? exitCode.unavailable : 0
}

/** A store that cannot be used still leaves the run directories: a degraded answer, and a word about it. */
async function orWithoutStore(
  world: World,
  onTrouble: () => void,
  look: () => Promise<Sight[]>,
  wanted: (sight: Sight) => boolean = () => true,
): Promise<Sight[]> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'unavailable') throw error
    sayProblem(error)
    onTrouble()
    return (await seeWithoutStore(world)).filter(wanted)
  }
}

export async function treeVerb(world: World, parsed: Parsed): Promise<number> {
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

export async function eventsVerb(world: World, parsed: Parsed): Promise<number> {
  if (parsed.words.length > 1) throw new Problem('arguments-wrong', 'events takes one session, or none for all')
  const reference = parsed.words[0] ?? null
  const json = parsed.flags.has('json')
  const events = await seeEvents(world, reference, 0)
  if (!parsed.flags.has('follow')) {
    if (json) printJson(events.map(eventJson))
    else print(events.map((event) => eventText(event, paintFor(1))))
    return 0
  }
  // Followed, each event is a line of its own.
  for (let batch = events, last = 0; ; batch = await seeEvents(world, reference, last)) {
    last = batch.at(-1)?.seq ?? last
    print(batch.map((event) => (json ? JSON.stringify(eventJson(event)) : eventText(event, paintFor(1)))))
    await world.clock.sleep(world.policy.followMs)
  }
}

export async function logsVerb(world: World, parsed: Parsed): Promise<number> {
  const reference = oneWord(parsed, 'logs')
  const text = parsed.values.get('lines')
  if (text !== undefined && !/^\d{1,7}$/.test(text))
    throw new Problem('option-value-invalid', `-n takes a number of lines, not ${JSON.stringify(text)}`)
  const { run } = await seeOne(world, reference)
  if (!run.detached)
    throw new Problem('output-not-kept', `session ${run.session} ran in the foreground; its output went to its terminal and was not kept`)
  const output = logs(world, reference, { follow: parsed.flags.has('follow'), lines: text === undefined ? null : Number(text) })
  if (parsed.flags.has('json')) for await (const line of linesOf(output)) print([JSON.stringify({ session: run.session, run: run.id, line })])
  else for await (const chunk of output) write(1, chunk)
  return 0
}

/** Whole lines, and at the end what was not ended. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

export async function attachVerb(world: World, parsed: Parsed): Promise<number> {
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
