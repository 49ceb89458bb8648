import { cancelRequest, finishRequest, rerunRequest, retryRequest, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import { cancelledJson, cancelledText, finishedJson, type RequestView, repeatedText, requestFinishedText, requestJson } from '../../show/index.ts'
import type { Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'
import { textIn } from './add.ts'
import { oneRequest } from './see.ts'

export async function cancelVerb(world: World, parsed: Parsed): Promise<number> {
  const view = await cancelRequest(world, oneRequest(parsed, 'work cancel'), parsed.values.get('reason'))
  if (parsed.flags.has('json')) printJson(cancelledJson(view))
  else print(cancelledText(view))
  return { cancelled: exitCode.done, ending: exitCode.done, survivors: exitCode.survivors, unproven: exitCode.unproven }[view.kind]
}

export async function finishVerb(world: World, parsed: Parsed): Promise<number> {
  if (parsed.words.length > 1)
    throw new Problem('arguments-wrong', 'work finish takes one request at most', { hint: 'holdfast work finish --summary "the login works again"' })
  const [summary, token] = [parsed.values.get('summary'), parsed.values.get('token')]
  if (token !== undefined && !/^\d{1,9}$/.test(token))
    throw new Problem('option-value-invalid', `--token takes the number of a claim, not ${JSON.stringify(token)}`)
  const view = await finishRequest(world, {
    request: parsed.words[0],
    summary: summary === undefined ? undefined : textIn(summary),
    token: token === undefined ? undefined : Number(token),
  })
  if (parsed.flags.has('json')) printJson(finishedJson(view))
  else print(requestFinishedText(view))
  return exitCode.done
}

export const rerunVerb = async (world: World, parsed: Parsed): Promise<number> =>
  tellRepeated(parsed, await rerunRequest(world, oneRequest(parsed, 'work rerun')))
export const retryVerb = async (world: World, parsed: Parsed): Promise<number> =>
  tellRepeated(parsed, await retryRequest(world, oneRequest(parsed, 'work retry')))

function tellRepeated(parsed: Parsed, view: RequestView): number {
  if (parsed.flags.has('json')) printJson(requestJson(view))
  else print(repeatedText(view))
  return exitCode.done
}
