import { seeTasks, startTask, type World } from '../app/index.ts'
import { Problem } from '../model/index.ts'
import { ownedTaskJson, startedTaskJson, tasksText } from '../show/index.ts'
import { type Parsed, parse } from './options.ts'
import { paintFor, print, printJson } from './out.ts'
import { timeLimit } from './start.ts'

const SPEC = { name: 'value', 'on-retire': 'value', timeout: 'value', dir: 'value' } as const

/** `task start …` and `task ls [S]`. */
export async function taskVerb(world: World, parsed: Parsed): Promise<number> {
  const [what, ...rest] = parsed.command ?? []
  if (what === 'start') return startVerb(world, merged(parsed, parse(rest, SPEC, true)))
  if (what === 'ls') return listVerb(world, merged(parsed, parse(rest, {})))
  throw new Problem('verb-unknown', `task takes start or ls${what === undefined ? '' : `, not ${JSON.stringify(what)}`}`, {
    hint: 'holdfast task start [--name N] [--on-retire cancel|adopt] -- COMMAND…',
  })
}

/** Options may also stand between the verb and its second word. */
const merged = (outer: Parsed, inner: Parsed): Parsed => ({
  ...inner,
  flags: new Set([...outer.flags, ...inner.flags]),
  values: new Map([...outer.values, ...inner.values]),
})

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
