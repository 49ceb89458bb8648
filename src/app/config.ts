import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { SPARE } from '../harness/index.ts'
import type { SpareRule } from '../model/index.ts'
import { Problem } from '../model/index.ts'

/** The shipped list, with what `config.toml` in the home adds (`[spare] add`) and takes away (`drop`), by process name. Read once, when asked. */
export function spareRules(home: string): () => readonly SpareRule[] {
  let rules: readonly SpareRule[] | null = null
  return () => {
    rules ??= readRules(join(home, 'config.toml'))
    return rules
  }
}

function readRules(path: string): readonly SpareRule[] {
  const text = readOr(path)
  if (text === null) return SPARE
  const { spare = {} } = parsed(text, path)
  const add = namesIn(spare, 'add', path)
  const drop = namesIn(spare, 'drop', path)
  const kept = SPARE.map((rule) => ({ ...rule, named: rule.named.filter((name) => !drop.includes(name)) }))
  return add.length === 0 ? kept : [...kept, { what: 'on your own list', named: add }]
}

function parsed(text: string, path: string): { spare?: unknown } {
  try {
    return parse(text)
  } catch (error) {
    throw new Problem('usage', `${path} is no TOML: ${(error as Error).message.split('\n')[0]}`, { hint: 'mend it or move it away', cause: error })
  }
}

function namesIn(table: unknown, key: string, path: string): string[] {
  const names = (table as Record<string, unknown>)[key] ?? []
  if (Array.isArray(names) && names.every((name) => typeof name === 'string' && name !== '')) return names as string[]
  throw new Problem('usage', `${path}: spare.${key} is a list of process names`, { hint: `such as ${key} = ["gpg-agent"]` })
}

function readOr(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Problem('unavailable', `cannot read ${path}`, { cause: error })
  }
}
