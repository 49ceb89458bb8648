import { addFeedback, retryFeedback, seeFeedback, type World } from '../../app/index.ts'
import { exitCode, Problem } from '../../model/index.ts'
import { feedbackAddedText, feedbackJson, feedbackText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import type { Parsed } from '../options.ts'
import { paintFor, print, printJson } from '../out.ts'
import { oneText } from '../work/add.ts'

const ID = { name: 'ID', thing: 'text', about: 'a request; at least four characters of its id' } as const

export const feedback: Command = {
  name: 'feedback',
  group: 'work',
  summary: 'tell the agent of a request what to change',
  arguments: [],
  options: [],
  subs: [
    {
      name: 'add',
      summary: 'say something about a request that is open',
      forms: ['ID TEXT', 'ID -'],
      arguments: [ID, { name: 'TEXT', thing: 'text', about: 'the text for the agent; - reads it from standard input' }],
      options: [],
      run: addVerb,
    },
    {
      name: 'ls',
      summary: 'list feedback with its state, of a request or of all that are open',
      arguments: [{ ...ID, optional: true }],
      options: [],
      run: listVerb,
    },
    {
      name: 'retry',
      summary: 'send feedback once more that may not have arrived',
      arguments: [{ name: 'FID', thing: 'text', about: 'the id of the feedback' }],
      options: [],
      run: retryVerb,
    },
  ],
  more: () => ({
    description: [
      'Feedback reaches the agent that works on the request, or gives a request that waits its next run.',
      'It arrives in the order in which it was said, and its receipt tells how.',
      'A request that has ended takes no feedback.',
    ],
    examples: [
      ['feedback add w1a2b "rename the option"', 'The agent of the request gets the text.'],
      ['feedback ls w1a2b', 'All that was said about the request is listed.'],
    ],
    exits: { done: 'done', notFound: 'no such request or feedback', held: 'the request has ended, or the feedback has arrived' },
  }),
}

async function addVerb(world: World, parsed: Parsed): Promise<number> {
  const [reference] = parsed.words
  const hint = 'holdfast feedback add ID "rename the option"'
  if (reference === undefined) throw new Problem('arguments-wrong', 'feedback add takes a request, and one text', { hint })
  const added = await addFeedback(world, reference, oneText(parsed, 'feedback add takes a request, and one text', hint, 1))
  if (parsed.flags.has('json')) printJson(feedbackJson(added))
  else print(feedbackAddedText(added))
  return exitCode.done
}

async function listVerb(world: World, parsed: Parsed): Promise<number> {
  if (parsed.words.length > 1) throw new Problem('arguments-wrong', 'feedback ls takes one request, or none')
  const all = await seeFeedback(world, parsed.words[0] ?? null)
  if (parsed.flags.has('json')) printJson(all.map(feedbackJson))
  else print(feedbackText(all, world.clock.now(), paintFor(1)))
  return exitCode.done
}

async function retryVerb(world: World, parsed: Parsed): Promise<number> {
  const [id, ...more] = parsed.words
  if (id === undefined || more.length > 0)
    throw new Problem('arguments-wrong', 'feedback retry takes the id of one feedback', { hint: 'holdfast feedback ls lists them' })
  const sent = await retryFeedback(world, id)
  if (parsed.flags.has('json')) printJson(feedbackJson(sent))
  else print(feedbackAddedText(sent))
  return exitCode.done
}
