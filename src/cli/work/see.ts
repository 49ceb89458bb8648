import { explainRequest, seeRequest, seeWork, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import { boardText, explainedJson, explainedText, requestJson, requestStoryJson, requestText } from '../../show/index.ts'
import { noWords, type Parsed } from '../options.ts'
import { pageFor, paintFor, print, printJson } from '../out.ts'

export async function listVerb(world: World, parsed: Parsed): Promise<number> {
  noWords(parsed, 'work ls')
  const { views, left } = await seeWork(world, parsed.flags.has('all') ? 'all' : 'shown')
  if (parsed.flags.has('json')) printJson(views.map(requestJson))
  else print(boardText(views, left, world.clock.now(), paintFor(1), pageFor(1)))
  return exitCode.done
}

export async function showVerb(world: World, parsed: Parsed): Promise<number> {
  const story = await seeRequest(world, oneRequest(parsed, 'work show'))
  if (parsed.flags.has('json')) printJson(requestStoryJson(story))
  else print(requestText(story, world.clock.now(), paintFor(1)))
  return exitCode.done
}

export async function explainVerb(world: World, parsed: Parsed): Promise<number> {
  const view = await explainRequest(world, oneRequest(parsed, 'work explain'))
  if (parsed.flags.has('json')) printJson(explainedJson(view))
  else print(explainedText(view, paintFor(1)))
  return exitCode.done
}

export function oneRequest(parsed: Parsed, verb: string): string {
  const [reference, ...more] = parsed.words
  if (reference === undefined || more.length > 0)
    throw new Problem('arguments-wrong', `${verb} takes one request`, { hint: 'holdfast work ls lists them' })
  return reference
}
