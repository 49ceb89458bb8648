import { Problem } from '../model/index.ts'
import type { Command } from './command.ts'
import type { Texts } from './help/index.ts'

/** `texts` are asked only for a name that no verb has. */
export function commandNamed(name: string, table: readonly Command[], texts: () => Pick<Texts, 'nearest'>): Command {
  const command = table.find((one) => one.name === name)
  if (command !== undefined) return command
  const names = table.filter(({ hidden }) => hidden !== true).map((one) => one.name)
  const near = texts().nearest(name, names)
  throw new Problem('verb-unknown', `unknown verb ${JSON.stringify(name)}`, {
    hint: near === null ? 'holdfast help lists them' : `did you mean ${near}? holdfast help lists all verbs`,
  })
}
