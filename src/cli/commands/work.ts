import { REQUEST_PUBLISH_WAYS } from '../../model/index.ts'
import type { Command } from '../command.ts'
import { flag, value } from '../options.ts'
import { addVerb } from '../work/add.ts'
import { cancelVerb, finishVerb, rerunVerb, retryVerb } from '../work/change.ts'
import { explainVerb, listVerb, showVerb } from '../work/see.ts'
import { checkVerb, trustVerb } from '../work/workflow.ts'

const DIR = { name: 'DIR', thing: 'directory', about: 'a repository (the one around you)', optional: true } as const
const ID = { name: 'ID', thing: 'text', about: 'a request; at least four characters of its id' } as const

export const work: Command = {
  name: 'work',
  group: 'work',
  summary: 'hand work to agents: requests, from the queue to a result',
  arguments: [],
  options: [],
  subs: [
    {
      name: 'add',
      summary: 'put a request into the queue',
      forms: ['[OPTION…] TEXT', '[OPTION…] -'],
      arguments: [{ name: 'TEXT', thing: 'text', about: 'the text for the agent; - reads it from standard input' }],
      options: [
        value('repo', 'DIR', 'directory', 'the repository to work in (the one around you)'),
        value('title', 'TEXT', 'text', 'a short name (the first line of the text)'),
        value('harness', 'AGENT', 'agent', 'the agent that works on it (that of config.toml, or the only one that is installed)'),
        value('priority', 'N', 'text', 'a lower number comes first; requests without one come last'),
        { ...value('after', 'ID', 'text', 'wait until this request is done; may come more than once'), many: true },
        { ...value('label', 'K=V', 'text', 'a label, for limits; may come more than once'), many: true },
        value('budget', 'TOKENS', 'text', 'end a run that has used so many tokens'),
        value('timeout', 'DURATION', 'text', 'end a run after this time'),
        value('publish', 'WHAT', REQUEST_PUBLISH_WAYS, 'push the branch to the remote (branch), or keep it here (none, the default)'),
        flag('review', 'wait for a person before it is done'),
      ],
      run: addVerb,
    },
    {
      name: 'ls',
      summary: 'show the board: requests by state, first those that need a person',
      arguments: [],
      options: [flag('all', 'also list requests that ended more than a week ago', 'a')],
      run: listVerb,
    },
    { name: 'show', summary: 'tell the story of a request', arguments: [ID], options: [], run: showVerb },
    {
      name: 'explain',
      summary: 'tell why a request runs, waits, does not start or is over, and what to type next',
      arguments: [ID],
      options: [],
      run: explainVerb,
    },
    {
      name: 'cancel',
      summary: 'end a request, and its agent with all that it started',
      arguments: [ID],
      options: [value('reason', 'TEXT', 'text', 'why, for those who read its story')],
      run: cancelVerb,
    },
    { name: 'rerun', summary: 'begin a request that is over anew, on a branch of its own', arguments: [ID], options: [], run: rerunVerb },
    {
      name: 'retry',
      summary: 'go on with a request that is over, on its branch; or try one that waits at once',
      arguments: [ID],
      options: [],
      run: retryVerb,
    },
    {
      name: 'finish',
      summary: 'report the result of a request, inside its session; or accept a result that waits',
      arguments: [{ ...ID, about: 'a request; inside its session it needs no name', optional: true }],
      options: [
        value('summary', 'TEXT', 'text', 'a sentence about the result; - reads it from standard input'),
        value('token', 'N', 'text', 'only if this claim is still the newest'),
      ],
      run: finishVerb,
    },
    {
      name: 'check',
      summary: 'show what WORKFLOW.md of a repository would run here, and whether it may',
      arguments: [DIR],
      options: [],
      run: checkVerb,
    },
    { name: 'trust', summary: 'allow WORKFLOW.md of a repository as its default branch has it now', arguments: [DIR], options: [], run: trustVerb },
  ],
  more: () => ({
    description: [
      'A request is work for an agent, in a git worktree and on a branch of its own.',
      'A worker takes requests from the queue, by priority and then by age.',
      'Every request ends as done, blocked or cancelled, with a reason and a sentence.',
    ],
    examples: [
      ['work add "fix the login"', 'The request is put into the queue.'],
      ['work add --repo ~/api --harness claude --review -', 'The text comes from standard input; the result waits for a person.'],
      ['work ls', 'The board is printed.'],
      ['work finish --summary "the login works again"', 'The agent of a request reports its result.'],
    ],
    exits: {
      done: 'done',
      badCommand: 'the words are wrong, or the repository has no commit; nothing was done',
      notFound: 'no such request, directory or agent',
      held: 'the request has ended, and an end is final; or it is not as far',
      survivors: 'processes of its agent survived',
      unproven: 'git cannot tell how the repository stands',
    },
  }),
}
