import { join } from 'node:path'
import type { Environment } from '../../model/index.ts'
import { folderOf, textOf } from '../recognise/disk.ts'

/** A table of `config.toml`: `[hooks.state."/x/hooks.json:pre_tool_use:0:0"]`, with a hash below it. Measured with 0.166. */
const TRUSTED = /^\[hooks\.state\.(?:"(?<path>[^"\n]+):(?<event>[a-z_]+):\d+:\d+")\]\n(?:(?!\[).*\n)*?trusted_hash *=/gm

/** Codex notes each hook that a person trusted. A hook that was changed since then it leaves out all the same: the hash is its own affair. */
export function codexTrusts(env: Environment, path: string, events: readonly string[]): boolean {
  const text = textOf(join(folderOf(env, 'CODEX_HOME', '.codex'), 'config.toml')) ?? ''
  const trusted = new Set([...text.matchAll(TRUSTED)].flatMap(({ groups }) => (groups?.['path'] === path ? [groups['event']] : [])))
  return events.every((event) => trusted.has(snake(event)))
}

/** `PreToolUse` is `pre_tool_use` there. */
const snake = (event: string): string => event.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
