import { closeSync, openSync, readSync } from 'node:fs'
import { isatty } from 'node:tty'
import type { OnLive, Started, StartRequest, World } from '../app/index.ts'
import { adopt, findSession, parseDuration, parseTokens, refuseSamePrompt, resumptionOf, start, wasShared } from '../app/index.ts'
import { exitCode, Problem } from '../model/index.ts'
import { paneJson, plain, retiredText, stoppedJson } from '../show/index.ts'
import { whichOne } from './choose.ts'
import { follow } from './follow.ts'
import { isHosted, join, onTerminal } from './join.ts'
import { oneWord, type Parsed, type Spec } from './options.ts'
import { print, printJson, say, sayProblem } from './out.ts'

export const CHOICES: Spec = {
  dir: 'value',
  detach: 'flag',
  tmux: 'flag',
  takeover: 'flag',
  attach: 'flag',
  wait: 'value',
  force: 'flag',
  share: 'flag',
  'allow-unmanaged': 'flag',
  until: 'value',
  independent: 'flag',
  timeout: 'value',
  budget: 'value',
  'prompt-file': 'value',
  grace: 'value',
}

export async function runVerb(world: World, parsed: Parsed): Promise<number> {
  const { values, command, literal } = parsed
  const [first = '', ...rest] = command ?? []
  // Said without `--`, the name of an agent that we know means that agent.
  const known = !literal && world.harnesses().some(({ name }) => name === first)
  const said = known ? { harness: first, argv: rest } : { argv: command ?? [] }
  const base = { ...said, session: values.get('session'), name: values.get('name'), worktree: values.get('worktree') }
  return begin(world, parsed, requestOf(parsed, base))
}

/** The next run of a known session, in its directory. */
export async function resumeVerb(world: World, parsed: Parsed): Promise<number> {
  const reference = await whichOne(world, parsed)
  if (reference === null) return exitCode.badCommand
  const ends = parsed.flags.has('takeover') || parsed.flags.has('force')
  const { moved, ...resumption } = await resumptionOf(world, reference, parsed.command, { dir: parsed.values.get('dir'), ends })
  if (moved !== undefined) say(`the conversation of session ${moved.from} has gone on as session ${moved.to}: that is the one which is resumed`)
  return begin(world, parsed, requestOf(parsed, resumption))
}

/** Stop and start anew, as it was started: detached, until when, for how long. */
export async function restartVerb(world: World, parsed: Parsed): Promise<number> {
  const view = await findSession(await world.store('writer'), oneWord(parsed, 'restart'), 'near')
  if (parsed.command === null && !parsed.values.has('prompt-file')) refuseSamePrompt(world, view)
  const request = requestOf(parsed, await resumptionOf(world, view.session.id, parsed.command, { dir: parsed.values.get('dir'), ends: true }))
  const { run } = view
  const timeoutMs = request.timeoutMs ?? (run === null || run.deadlineAt === null ? undefined : run.deadlineAt - run.startedAt)
  return begin(world, parsed, {
    ...request,
    onLive: 'takeover',
    detach: request.detach || (run?.detached === true && run.tmux === null),
    tmux: request.tmux === true || (run !== null && run.tmux !== null),
    until: request.until ?? run?.until,
    share: request.share === true || (run !== null && (await wasShared(world, run.id))),
    timeoutMs,
    budget: request.budget ?? run?.budget ?? undefined,
  })
}

function requestOf(parsed: Parsed, base: Pick<StartRequest, 'argv' | 'session' | 'name' | 'dir' | 'worktree' | 'harness' | 'resume'>): StartRequest {
  const { flags, values } = parsed
  const chosen = (['takeover', 'attach'] as const).filter((name) => flags.has(name))
  if (chosen.length + (values.has('wait') ? 1 : 0) > 1) throw new Problem('options-exclusive', '--takeover, --attach and --wait exclude each other')
  const until = values.get('until')
  if (until !== undefined && until !== 'harness' && until !== 'tree')
    throw new Problem('option-value-invalid', `--until takes harness or tree, not ${until}`)
  const onLive: OnLive = chosen[0] ?? (values.has('wait') ? 'wait' : 'refuse')
  return {
    ...base,
    dir: values.get('dir') ?? base.dir,
    detach: flags.has('detach'),
    tmux: flags.has('tmux'),
    onLive,
    waitMs: duration(parsed, 'wait'),
    force: flags.has('force'),
    share: flags.has('share'),
    allowUnmanaged: flags.has('allow-unmanaged'),
    until,
    independent: flags.has('independent'),
    timeoutMs: timeLimit(parsed),
    budget: tokenLimit(parsed),
    promptFile: values.get('prompt-file'),
    graceMs: duration(parsed, 'grace'),
  }
}

export function timeLimit(parsed: Parsed): number | undefined {
  const ms = duration(parsed, 'timeout')
  if (ms === 0) throw new Problem('option-value-invalid', '--timeout 0 would end it at once; leave it out for no limit')
  return ms
}

function tokenLimit({ values }: Parsed): number | undefined {
  const text = values.get('budget')
  if (text === undefined) return undefined
  const tokens = parseTokens(text)
  if (tokens === null)
    throw new Problem('option-value-invalid', `--budget takes a number of tokens such as 200000, 200k or 1.5M, not ${JSON.stringify(text)}`)
  return tokens
}

export function duration({ values }: Parsed, name: string): number | undefined {
  const text = values.get(name)
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms === null) throw new Problem('option-value-invalid', `--${name} takes a duration such as 30s, 5m or 1h30m, not ${JSON.stringify(text)}`)
  return ms
}

async function begin(world: World, parsed: Parsed, request: StartRequest): Promise<number> {
  const mayAsk = request.onLive === 'refuse' && !parsed.flags.has('json') && !request.detach && isatty(0) && isatty(2)
  const asked = new Set<unknown>()
  const askFor = (refusal: Problem): OnLive | null => {
    const holder = refusal.detail['holder'] as { attach: string | null; session: string } | undefined
    if (!mayAsk || holder === undefined || holder.session !== request.session) return null
    asked.add(refusal)
    sayProblem(refusal)
    return ask(holder.attach !== null)
  }
  try {
    return await report(await start(world, request, askFor), world, parsed, 'started')
  } catch (error) {
    // Who was asked has read it.
    if (error instanceof Problem && asked.has(error)) return error.exitCode
    throw error
  }
}

/** On a terminal the person decides: attach, take over, or leave. */
function ask(canAttach: boolean): 'attach' | 'takeover' | null {
  const terminal = openSync('/dev/tty', 'r')
  try {
    say(`${canAttach ? '[a]ttach, ' : ''}[t]ake over, or [l]eave? `)
    const buffer = Buffer.alloc(64)
    const answer = buffer
      .toString('latin1', 0, readSync(terminal, buffer, 0, buffer.length, null))
      .trim()
      .toLowerCase()
    if (answer === 't' || answer === 'take over') return 'takeover'
    return canAttach && (answer === 'a' || answer === 'attach') ? 'attach' : null
  } finally {
    closeSync(terminal)
  }
}

/** `adopt PID`: what runs already becomes a session's run. */
export async function adoptVerb(world: World, parsed: Parsed): Promise<number> {
  const [text = '', ...more] = parsed.words
  if (!/^\d{1,7}$/.test(text) || more.length > 0)
    throw new Problem('arguments-wrong', 'adopt takes the pid of one agent', { hint: 'holdfast run names those that are in the way' })
  const { flags, values } = parsed
  const about = { session: values.get('session'), name: values.get('name'), share: flags.has('share'), force: flags.has('force') }
  return report(await adopt(world, { pid: Number(text), ...about }), world, parsed, 'adopted')
}

async function report(started: Started, world: World, parsed: Parsed, what: 'started' | 'adopted'): Promise<number> {
  if (started.kind === 'attach') {
    if (isHosted(started.run)) return join(world, started.run)
    if (!started.run.detached)
      throw new Problem(
        'session-in-foreground',
        `session ${started.run.session} runs in the foreground on ${started.run.tty ?? 'another terminal'}; it can be taken over, not attached`,
        { hint: '--takeover replaces it' },
      )
    return follow(world, started.run.session, started.run.id)
  }
  if (!parsed.flags.has('json')) for (const end of started.retired) for (const line of retiredText(end)) say(line)
  if (!parsed.flags.has('json') && (started.kind === 'running' || isatty(2))) for (const note of started.notes) say(note)
  if (started.kind === 'handed-over') return 0
  const { run, harness } = started
  if (parsed.flags.has('json')) {
    printJson({
      session: run.session,
      run: run.id,
      epoch: run.epoch,
      pid: harness.pid,
      dir: run.dir,
      ...(run.tmux === null ? {} : { tmux: paneJson(run.tmux) }),
      notes: started.notes,
      retired: started.retired.map((end) => stoppedJson(run.session, end)),
    })
  } else {
    const line = `${what} ${run.session} (pid ${harness.pid}) in ${plain(run.dir)}`
    if (isHosted(run) && !parsed.flags.has('detach') && onTerminal()) {
      say(line)
      return join(world, run)
    }
    print([run.tmux === null ? line : `${line}; holdfast attach ${run.session} joins it`])
  }
  return 0
}
