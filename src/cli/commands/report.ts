import { say as sayForAll, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import type { Command } from '../command.ts'
import { allWords, flag, type Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'

export const report: Command = {
  name: 'report',
  group: 'together',
  summary: 'tell your siblings what you are about to do, or what came of it',
  arguments: [{ name: 'TEXT', thing: 'text', about: 'one text of 2 KB at most' }],
  options: [flag('result', 'the text tells what came of it')],
  more: () => ({
    description: ['The newest text stands with your session, and siblings shows it.', 'A text that begins with a dash comes after --.'],
    examples: [
      ['report "moving the parser to src/parse"', 'The others see this plan.'],
      ['report --result "parser moved, tests pass"', 'The others see this result.'],
    ],
    exits: { done: 'the text was recorded', notFound: 'the command is in no session', held: 'the session has another owner by now' },
  }),
  run: reportVerb,
}

async function reportVerb(world: World, parsed: Parsed): Promise<number> {
  const [text = '', ...more] = allWords(parsed)
  if (text === '' || more.length > 0)
    throw new Problem('arguments-wrong', 'report takes one text', {
      hint: 'holdfast report "what you are about to do", or: report --result "what came of it"',
    })
  const said = await sayForAll(world, parsed.flags.has('result') ? 'result' : 'plan', text)
  if (parsed.flags.has('json')) printJson({ session: said.session, text: said.saying.text })
  else print([`the others see it with session ${said.session}`])
  return exitCode.done
}
