import { isatty } from 'node:tty'
import { type Answer, type Started, type StartRequest, start, type World } from '../../app/index.ts'
import { Problem, type RunBase } from '../../model/index.ts'
import { paneJson, plain, retiredText, stoppedJson } from '../../show/index.ts'
import type { Parsed } from '../options.ts'
import { print, printJson, say, sayProblem } from '../out.ts'
import { answerTo } from './answer.ts'
import { follow } from './follow.ts'
import { isHosted, join, onTerminal } from './join.ts'

/** Starts it, and tells the caller. On a terminal with a live owner the person is asked. */
export async function begin(world: World, parsed: Parsed, request: StartRequest): Promise<number> {
  const mayAsk = !parsed.flags.has('json') && !request.detach && isatty(0) && isatty(2)
  const asked = new Set<unknown>()
  const askFor = (refusal: Problem): Answer | null => {
    const question = mayAsk ? questionOn(refusal, request) : null
    if (question === null) return null
    asked.add(refusal)
    sayProblem(refusal)
    return question()
  }
  try {
    return await report(await start(world, request, askFor), world, parsed, 'started')
  } catch (error) {
    // A person who was asked has read it.
    if (error instanceof Problem && asked.has(error)) return error.exitCode
    throw error
  }
}

/** A refusal that a person at the terminal may lift; null: it stands. */
function questionOn(refusal: Problem, request: StartRequest): (() => Answer | null) | null {
  if (refusal.id === 'conversation-would-be-left')
    return () => (['n', 'new'].includes(answerTo('begin a [n]ew conversation, or [l]eave? ').toLowerCase()) ? { newConversation: true } : null)
  const holder = refusal.detail['holder'] as { attach: string | null; session: string } | undefined
  if (request.onLive !== 'refuse' || holder === undefined || holder.session !== request.session) return null
  return () => {
    const onLive = ask(holder.attach !== null)
    return onLive === null ? null : { onLive }
  }
}

/** On a terminal the person decides: attach, take over, or leave. */
function ask(canAttach: boolean): 'attach' | 'takeover' | null {
  const answer = answerTo(`${canAttach ? '[a]ttach, ' : ''}[t]ake over, or [l]eave? `).toLowerCase()
  if (answer === 't' || answer === 'take over') return 'takeover'
  return canAttach && (answer === 'a' || answer === 'attach') ? 'attach' : null
}

export async function report(started: Started, world: World, parsed: Parsed, what: 'started' | 'adopted'): Promise<number> {
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
    print([`${line}${nextText(run, what)}`])
  }
  return 0
}

/** The command that people want next. The output of an adopted agent is not ours. */
function nextText(run: RunBase, what: 'started' | 'adopted'): string {
  if (run.tmux !== null) return `; holdfast attach ${run.session} joins it`
  return what === 'started' && run.detached ? `; holdfast logs -f ${run.session} follows it` : ''
}
