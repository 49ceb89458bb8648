import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { SPARE } from '../harness/index.ts'
import type { SpareRule } from '../model/index.ts'

export type Config = {
  /** The shipped list, with what `config.toml` adds (`[spare] add`) and takes away (`drop`), by process name. */
  readonly spares: () => readonly SpareRule[]
  /** What is wrong with it, once it was read. */
  readonly trouble: () => string | null
}

/** `config.toml` in the home, read once and when asked. One that makes no sense must not make an agent unstoppable: then the shipped list holds. */
export function openConfig(home: string): Config {
  let rules: readonly SpareRule[] | null = null
  let trouble: string | null = null
  const read = (): readonly SpareRule[] => {
    try {
      return readRules(join(home, 'config.toml'))
    } catch (error) {
      trouble = (error as Error).message
      return SPARE
    }
  }
  return {
    spares: () => {
      rules ??= read()
      return rules
    },
    trouble: () => trouble,
  }
}

function readRules(path: string): readonly SpareRule[] {
  const text = readOr(path)
  if (text === null) return SPARE
  const { spare = {}, ...more } = parsed(text, path)
  const unknown = [
    ...Object.keys(more),
    ...Object.keys(spare as object)
      .filter((key) => key !== 'add' && key !== 'drop')
      .map((key) => `spare.${key}`),
  ]
  if (unknown.length > 0) throw new Error(`${path}: nobody knows ${unknown.join(', ')}`)
  const add = namesIn(spare, 'add', path)
  const drop = namesIn(spare, 'drop', path)
  const kept = SPARE.map((rule) => ({ ...rule, named: rule.named.filter((name) => !drop.includes(name)) }))
  return add.length === 0 ? kept : [...kept, { what: 'on your own list', named: add }]
}

function parsed(text: string, path: string): Record<string, unknown> {
  try {
    return parse(text)
  } catch (error) {
    throw new Error(`${path} is no TOML: ${(error as Error).message.split('\n')[0]}`, { cause: error })
  }
}

function namesIn(table: unknown, key: string, path: string): string[] {
  const names = (table as Record<string, unknown>)[key] ?? []
  if (Array.isArray(names) && names.every((name) => typeof name === 'string' && name !== '')) return names as string[]
  throw new Error(`${path}: spare.${key} is a list of process names, such as ${key} = ["gpg-agent"]`)
}

function readOr(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Error(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`, { cause: error })
  }
}
