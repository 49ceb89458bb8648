import { readAll, send, type World } from '../app/index.ts'
import { exitCode, Problem, textOf } from '../model/index.ts'
import { sentIntoText } from '../show/index.ts'
import type { Parsed } from './options.ts'
import { print, printJson } from './out.ts'

/** `send S TEXT` or `send S -`: types one block into a session's pane, and says whether it was taken. */
export async function sendVerb(world: World, parsed: Parsed): Promise<number> {
  const [session, said, ...more] = [...parsed.words, ...(parsed.command ?? [])]
  if (session === undefined || said === undefined || more.length > 0)
    throw new Problem('arguments-wrong', 'send takes a session and one text', {
      hint: 'holdfast send S "TEXT", or the text on stdin: holdfast send S -',
    })
  const sent = await send(world, session, said === '-' && !parsed.literal ? fromStdin(world) : said, { force: parsed.flags.has('force') })
  if (parsed.flags.has('json')) printJson(sent)
  else print([sentIntoText(sent)])
  return sent.taken === 'no' ? exitCode.held : sent.taken === 'unknown' ? exitCode.unproven : exitCode.done
}

function fromStdin({ policy }: World): string {
  const bytes = readAll(0, policy.sendBytes)
  if (bytes === null) throw new Problem('text-too-long', `the text on stdin is longer than ${policy.sendBytes} bytes`)
  return textOf(bytes)
}
