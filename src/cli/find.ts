import { nearest, Problem } from '../model/index.ts'
import type { Command } from './command.ts'

/** Words of docker, git, tmux and others, and the verb that does it here. Those that mean the very same work by themselves: `also` of a verb. */
const MEANT: Readonly<Record<string, string>> = {
  cancel: 'stop',
  clean: 'prune',
  connect: 'attach',
  continue: 'resume',
  create: 'run',
  end: 'stop',
  exec: 'send',
  gc: 'prune',
  history: 'events',
  info: 'status',
  inspect: 'status',
  join: 'attach',
  new: 'run',
  open: 'attach',
  show: 'status',
  start: 'run',
  tail: 'logs',
  terminate: 'stop',
  top: 'tree',
}

export function commandNamed(name: string, table: readonly Command[]): Command {
  const command = table.find((one) => one.name === name || one.also?.includes(name))
  if (command !== undefined) return command
  const names = table.flatMap((one) => (one.hidden === true ? [] : [one.name, ...(one.also ?? [])]))
  const meant = Object.hasOwn(MEANT, name) ? MEANT[name] : nearest(name, names)
  throw new Problem('verb-unknown', `unknown verb ${JSON.stringify(name)}`, {
    hint: meant == null ? 'holdfast help lists them' : `did you mean ${meant}? holdfast help lists all verbs`,
  })
}
