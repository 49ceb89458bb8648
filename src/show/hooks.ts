import type { HookChange, HookState } from '../model/index.ts'
import { type Paint, plain } from './paint.ts'
import { type Cell, table } from './table.ts'

export function hookChangeText({ harness, path, did, events, note }: HookChange): string[] {
  const file = plain(path)
  const own = events.length === 0
  const hooks = `hooks for ${events.join(', ')}`
  const said = {
    installed: own ? `wrote ${file}` : `added ${hooks} to ${file}; everything else in it is as it was`,
    updated: own ? `wrote ${file} anew` : `added ${hooks} to those in ${file}; everything else in it is as it was`,
    replaced: own ? `wrote ${file} anew` : `replaced older ${hooks} in ${file}; everything else in it is as it was`,
    removed: own ? `removed ${file}` : `took ${hooks} out of ${file}; everything else in it is as it was`,
    nothing: `nothing to do; ${file} is as it was`,
  }[did]
  const undo = did === 'installed' || did === 'updated' || did === 'replaced' ? [`  undo: holdfast hooks uninstall ${harness}`] : []
  return [`${harness}: ${said}`, ...(note === null ? [] : [`  ${note}`]), ...undo]
}

export function hookStatesText(states: readonly HookState[], paint: Paint): string[] {
  const colour = { installed: paint.green, outdated: paint.yellow, other: paint.yellow, absent: paint.dim, unreadable: paint.red }
  const said = {
    installed: 'installed',
    outdated: 'outdated: install again',
    other: 'of another Holdfast',
    absent: 'not installed',
    unreadable: 'cannot be told',
  }
  const head: Cell[] = ['HARNESS', 'HOOKS', 'FILE'].map((text) => ({ text, paint: paint.dim }))
  return table([
    head,
    ...states.map(({ harness, path, state, trouble, trusted }): Cell[] => [
      { text: harness, paint: paint.bold },
      { text: trusted === false ? `${said[state]}, not trusted yet` : said[state], paint: trusted === false ? paint.yellow : colour[state] },
      { text: plain(trouble ?? path) },
    ]),
  ])
}
