import { expect, test } from 'vitest'
import { usageLimit } from '../../../src/decide/index.ts'

const SAID = "You've hit your usage limit. Try again in 2 hours."
const lines = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at}`).join('\n')

test.each([
  ['the last line says it', `${lines(9)}\n${SAID}`, { until: 7_200_000 }],
  ['an agent that counts its tokens afterwards', `${SAID}\n\ntokens used\n12`, { until: 7_200_000 }],
  ['without a time', 'Claude AI usage limit reached', { until: null }],
  ['its matter, before it said something else', `${SAID}\n${lines(9)}`, null],
  ['nothing was said', null, null],
] as const)('a usage limit: %s', (_name, words, limit) => expect(usageLimit(words, 0)).toEqual(limit))
