import { checkSource, openHttpSource, type World } from '../../app/index.ts'
import { exitCode, Problem, type SecretRef } from '../../model/index.ts'
import { sourceCheckJson, sourceCheckText } from '../../show/index.ts'
import type { Command } from '../command.ts'
import { type Parsed, value } from '../options.ts'
import { print, printJson } from '../out.ts'

export const source: Command = {
  name: 'source',
  group: 'maintenance',
  rare: true,
  summary: 'check a place where requests come from',
  arguments: [],
  options: [],
  subs: [
    {
      name: 'check',
      summary: 'walk a control plane through the protocol',
      arguments: [{ name: 'URL', thing: 'text', about: 'the base of its routes' }],
      options: [
        value('token-file', 'FILE', 'text', 'read the token from this file'),
        value('token-env', 'NAME', 'text', 'read the token from this variable'),
        value('item', 'ID', 'text', 'claim this item and report to it; without it the check only reads'),
      ],
      run: check,
    },
  ],
  more: () => ({
    description: [
      'The author of a control plane runs this against their own server.',
      'Without --item nothing is changed there. With --item the check claims that item and reports to it.',
      'The protocol is described in docs/reference/http-source.md.',
    ],
    examples: [
      ['source check https://plane.example/v1 --token-file ~/.plane-token', 'Holdfast reads the list and says what does not fit.'],
      ['source check http://127.0.0.1:8080/v1 --item try-1', 'Holdfast claims the item try-1 and walks it through every call.'],
    ],
    exits: { done: 'each step fits the protocol', unavailable: 'a step does not fit, or the server does not answer' },
  }),
}

async function check(world: World, parsed: Parsed): Promise<number> {
  const [url] = parsed.words
  if (url === undefined || parsed.words.length > 1)
    throw new Problem('arguments-wrong', 'source check takes one URL', { hint: 'holdfast source check https://plane.example/v1' })
  const token = tokenOf(parsed)
  const stranger = token === null ? null : openHttpSource(world, 'stranger', url, null)
  const steps = await checkSource(openHttpSource(world, 'check', url, token), stranger, parsed.values.get('item') ?? null)
  if (parsed.flags.has('json')) printJson(sourceCheckJson(url, steps))
  else print(sourceCheckText(url, steps))
  return steps.every(({ passed }) => passed) ? exitCode.done : exitCode.unavailable
}

function tokenOf({ values }: Parsed): SecretRef | null {
  const [file, env] = [values.get('token-file'), values.get('token-env')]
  if (file !== undefined && env !== undefined) throw new Problem('options-exclusive', '--token-file and --token-env exclude each other')
  return file !== undefined ? { file } : env !== undefined ? { env } : null
}
