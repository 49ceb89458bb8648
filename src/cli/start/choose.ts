import { isatty } from 'node:tty'
import { resumable, type World } from '../../app/index.ts'
import { Problem, type SessionRecord } from '../../model/index.ts'
import { choicesText } from '../../show/index.ts'
import { oneWord, type Parsed } from '../options.ts'
import { say } from '../out.ts'
import { answerTo } from './answer.ts'

/** How many are shown to choose from. */
const SHOWN = 10

/** The session that `resume` is about: named, the last one (--last), or chosen from a short list. Null: none was chosen. */
export async function whichOne(world: World, parsed: Parsed): Promise<string | null> {
  if (!parsed.flags.has('last') && parsed.words.length > 0) return oneWord(parsed, 'resume')
  if (parsed.words.length > 0) throw new Problem('options-exclusive', 'resume takes a session or --last, not both')
  const here = await resumable(world, process.cwd())
  if (parsed.flags.has('last')) return lastOf(here)
  const views = (here.length > 0 ? here : await resumable(world, null)).slice(0, SHOWN)
  if (views.length === 0) throw new Problem('session-none', 'there is no session to resume yet', { hint: 'holdfast run starts one' })
  const choice = new Problem('arguments-wrong', 'resume takes a session, or --last for the newest of this directory', {
    hint: 'holdfast ls --all lists them all',
  })
  // A program reads one object, and no list before it.
  if (parsed.flags.has('json')) throw choice
  say(here.length > 0 ? 'sessions in this directory, the newest first:' : 'sessions, the newest first:')
  for (const line of choicesText(views, world.clock.now())) say(line)
  if (!isatty(0) || !isatty(2)) throw choice
  return views[answer(views.length) - 1]?.session.id ?? null
}

function lastOf([last]: readonly SessionRecord[]): string {
  if (last !== undefined) return last.session.id
  throw new Problem('session-none', 'there is no session of this directory', { hint: 'holdfast resume shows those of others' })
}

/** 0: none of them. */
function answer(most: number): number {
  const text = answerTo(`which one (1-${most}, empty for none)? `)
  const number = /^\d{1,3}$/.test(text) ? Number(text) : 0
  return number <= most ? number : 0
}
