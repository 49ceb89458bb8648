import { parseDollars, parseDuration, parseTokens } from '../app/index.ts'
import { Problem } from '../model/index.ts'
import type { Parsed } from './options.ts'

export function duration({ values }: Parsed, name: string): number | undefined {
  const text = values.get(name)
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms === null) throw new Problem('option-value-invalid', `--${name} takes a duration such as 30s, 5m or 1h30m, not ${JSON.stringify(text)}`)
  return ms
}

export function timeLimit(parsed: Parsed): number | undefined {
  const ms = duration(parsed, 'timeout')
  if (ms === 0) throw new Problem('option-value-invalid', '--timeout 0 would end it at once; leave it out for no limit')
  return ms
}

export function tokenLimit({ values }: Parsed): number | undefined {
  const text = values.get('budget')
  if (text === undefined) return undefined
  const tokens = parseTokens(text)
  if (tokens === null)
    throw new Problem('option-value-invalid', `--budget takes a number of tokens such as 200000, 200k or 1.5M, not ${JSON.stringify(text)}`)
  return tokens
}

/** Tokens, or dollars. */
export function budgetLimit({ values }: Parsed): { readonly budget?: number; readonly budgetCost?: number } {
  const text = values.get('budget')
  if (text === undefined) return {}
  const [budget, budgetCost] = [parseTokens(text), parseDollars(text)]
  if (budget !== null) return { budget }
  if (budgetCost !== null) return { budgetCost }
  const means = 'a number of tokens such as 200000, 200k or 1.5M, or US dollars such as $2 or $0.50'
  throw new Problem('option-value-invalid', `--budget takes ${means}, not ${JSON.stringify(text)}`, {
    hint: "a shell needs dollars in quotes: --budget '$2'",
  })
}

export function lineCount({ values }: Parsed): number | undefined {
  const text = values.get('lines')
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Problem('option-value-invalid', `--lines takes a number from 1 on, not ${JSON.stringify(text)}`)
  return Number(text)
}
