import { logs as readLogs, seeOne, type World } from '../../app/index.ts'
import { Problem } from '../../model/index.ts'
import type { Command } from '../command.ts'
import { flag, oneWord, type Parsed, value } from '../options.ts'
import { pass, printJsonLine } from '../out.ts'

export const logs: Command = {
  name: 'logs',
  also: ['log'],
  group: 'see',
  summary: 'show the output of a detached session, or the screen of its pane',
  arguments: [{ name: 'S', thing: 'session', about: 'the session' }],
  options: [flag('follow', 'go on with new output until the run ends', 'f'), value('lines', 'N', 'text', 'show only the last N lines', 'n')],
  more: () => ({
    description: [
      'Shows the log of a detached run, of which the last 10 MB are kept twice.',
      'A session in a pane shows its screen with 2,000 lines above, also after the end. A pane cannot be followed.',
      'A foreground run has no log, since its output went to its terminal.',
      'A terminal gets text and colours, and no other escape sequence; a file or pipe gets every byte; with --json each line is an object.',
    ],
    examples: [
      ['logs review -n 50', 'The last 50 lines of session review are shown.'],
      ['logs review --follow', 'New output is shown until the session ends.'],
    ],
    exits: {
      done: 'the output was printed',
      badCommand: 'wrong words, or a pane was to be followed',
      notFound: 'no such session, or it ran in the foreground',
    },
  }),
  run: logsVerb,
}

async function logsVerb(world: World, parsed: Parsed): Promise<number> {
  const reference = oneWord(parsed, 'logs')
  const text = parsed.values.get('lines')
  if (text !== undefined && !/^\d{1,7}$/.test(text))
    throw new Problem('option-value-invalid', `-n takes a number of lines, not ${JSON.stringify(text)}`)
  const { run } = await seeOne(world, reference)
  if (!run.detached)
    throw new Problem('output-not-kept', `session ${run.session} ran in the foreground; its output went to its terminal and was not kept`)
  const output = readLogs(world, reference, { follow: parsed.flags.has('follow'), lines: text === undefined ? null : Number(text) })
  if (parsed.flags.has('json')) for await (const line of linesOf(output)) printJsonLine({ session: run.session, run: run.id, line })
  else await pass(output)
  return 0
}

/** Whole lines, and at the end the line that was not ended. */
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
