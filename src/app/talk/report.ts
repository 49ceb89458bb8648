import type { Saying, SayingKind } from '../../model/index.ts'
import { Problem } from '../../model/index.ts'
import { mySession } from '../caller/who-am-i.ts'
import type { World } from '../world/world.ts'

/** What the session around the caller is about to do, or what came of it, for the others to see. */
export async function say(world: World, kind: SayingKind, words: string): Promise<{ readonly session: string; readonly saying: Saying }> {
  const text = words.trim()
  if (text === '') throw new Problem('text-empty', `there is nothing to report: the ${kind} is empty`)
  if (Buffer.byteLength(text) > world.policy.sayingBytes)
    throw new Problem('text-too-long', `a ${kind} has ${world.policy.sayingBytes} bytes at most, and this one has ${Buffer.byteLength(text)}`, {
      hint: 'say it in a few sentences, and name the file that has the rest',
    })
  const { run } = await mySession(world, `report its ${kind}`)
  const saying = { text, at: world.clock.now() }
  if (!(await (await world.store('writer')).messages.say(run, kind, saying)))
    throw new Problem('caller-replaced', `session ${run.session} has another owner by now, and this one speaks for it no longer`, {
      hint: `holdfast status ${run.session}`,
    })
  return { session: run.session, saying }
}
