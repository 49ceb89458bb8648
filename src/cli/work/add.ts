import { addRequest, readAll, type World } from '../../app/index.ts'
import { exitCode, Problem, type Publish, policy, REQUEST_PUBLISH_WAYS } from '../../model/index.ts'
import { requestAddedText, requestJson } from '../../show/index.ts'
import { allWords, type Parsed } from '../options.ts'
import { print, printJson } from '../out.ts'
import { timeLimit, tokenLimit } from '../values.ts'

export async function addVerb(world: World, parsed: Parsed): Promise<number> {
  const { values, lists, flags } = parsed
  const view = await addRequest(world, {
    text: oneText(parsed, 'work add takes one text, or - for stdin', 'holdfast work add "fix the login"'),
    title: values.get('title'),
    repo: values.get('repo'),
    harness: values.get('harness'),
    priority: priorityIn(values.get('priority')),
    after: lists.get('after'),
    labels: labelsIn(lists.get('label') ?? []),
    budget: tokenLimit(parsed),
    timeoutMs: timeLimit(parsed),
    publish: publishIn(values.get('publish')),
    review: flags.has('review') ? true : undefined,
  })
  if (flags.has('json')) printJson(requestJson(view))
  else print(requestAddedText(view))
  return exitCode.done
}

/** The last of the words, or (`-`) what comes on stdin. `before`: so many words come before it. */
export function oneText(parsed: Parsed, means: string, hint: string, before = 0): string {
  const [text, ...more] = allWords(parsed).slice(before)
  if (text === undefined || more.length > 0) throw new Problem('arguments-wrong', means, { hint })
  return textIn(text)
}

/** A text, or (`-`) what comes on stdin. */
export function textIn(text: string): string {
  if (text !== '-') return text
  const bytes = readAll(0, policy.requestChars * 4)
  if (bytes === null) throw new Problem('text-too-long', `a text has ${policy.requestChars} characters at most, and stdin has more`)
  return new TextDecoder().decode(bytes)
}

function priorityIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^-?\d{1,6}$/.test(text))
    throw new Problem('option-value-invalid', `--priority takes a whole number, and a lower one comes first, not ${JSON.stringify(text)}`)
  return Number(text)
}

const LABEL = /^([\w.-]{1,100})=([\w.-]{1,100})$/

function labelsIn(texts: readonly string[]): Record<string, string> {
  const pairs = texts.map((text) => {
    const [, key, value] = LABEL.exec(text) ?? []
    if (key === undefined || value === undefined)
      throw new Problem('option-value-invalid', `--label takes KEY=VALUE of letters, digits, "_", "." and "-", not ${JSON.stringify(text)}`)
    return [key, value] as const
  })
  return Object.fromEntries(pairs)
}

function publishIn(text: string | undefined): Publish | undefined {
  const way = REQUEST_PUBLISH_WAYS.find((one) => one === text)
  if (text !== undefined && way === undefined)
    throw new Problem('option-value-invalid', `--publish takes ${REQUEST_PUBLISH_WAYS.join(' or ')}, not ${JSON.stringify(text)}`)
  return way
}
