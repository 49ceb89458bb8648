import { hooksStatus, installHooks, refuseWithoutHooks, uninstallHooks, type World } from '../app/index.ts'
import { exitCode, Problem } from '../model/index.ts'
import { hookChangeText, hookStatesText } from '../show/index.ts'
import type { Parsed } from './options.ts'
import { paintFor, print, printJson } from './out.ts'

/** `hooks install|uninstall HARNESS…` lets harnesses report to us, or no longer; `hooks ls` says which do. */
export async function hooksVerb(world: World, { words, flags }: Parsed): Promise<number> {
  const [what, ...harnesses] = words
  if (what === 'ls' && harnesses.length === 0) {
    const states = hooksStatus(world)
    if (flags.has('json')) printJson(states)
    else print(hookStatesText(states, paintFor(1)))
    return exitCode.done
  }
  if ((what !== 'install' && what !== 'uninstall') || harnesses.length === 0)
    throw new Problem('verb-unknown', 'hooks takes install or uninstall with names of harnesses, or ls', {
      hint: 'holdfast hooks ls lists those that have hooks',
    })
  refuseWithoutHooks(harnesses)
  const changes = harnesses.map((harness) => {
    const change = (what === 'install' ? installHooks : uninstallHooks)(world, harness)
    if (!flags.has('json')) print(hookChangeText(change))
    return change
  })
  if (flags.has('json')) printJson(changes)
  return exitCode.done
}
