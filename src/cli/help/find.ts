import { Problem } from '../../model/index.ts'
import type { Command } from '../command.ts'
import { nearest } from './near.ts'
import { visible } from './shape.ts'

export function commandNamed(name: string, table: readonly Command[]): Command {
  const command = table.find((one) => one.name === name)
  if (command !== undefined) return command
  const near = nearest(
    name,
    visible(table).map((one) => one.name),
  )
  throw new Problem('usage', `unknown verb ${JSON.stringify(name)}`, {
    hint: near === null ? 'holdfast help lists them' : `did you mean ${near}? holdfast help lists all verbs`,
  })
}
