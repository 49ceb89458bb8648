import { lookAtWorkflow, trustWorkflow, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import { workflowJson, workflowText } from '../../show/index.ts'
import type { Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'

export const checkVerb = async (world: World, parsed: Parsed): Promise<number> =>
  tell(parsed, await lookAtWorkflow(world, directory(parsed, 'work check')))
export const trustVerb = async (world: World, parsed: Parsed): Promise<number> =>
  tell(parsed, await trustWorkflow(world, directory(parsed, 'work trust')))

function tell(parsed: Parsed, look: Awaited<ReturnType<typeof lookAtWorkflow>>): number {
  if (parsed.flags.has('json')) printJson(workflowJson(look))
  else print(workflowText(look))
  return exitCode.done
}

function directory(parsed: Parsed, verb: string): string {
  if (parsed.words.length > 1) throw new Problem('arguments-wrong', `${verb} takes one directory at most`, { hint: `holdfast ${verb} DIR` })
  return parsed.words[0] ?? '.'
}
