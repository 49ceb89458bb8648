import type { Anchor, Environment, Harness, HookRule, ToolPidFiles } from '../../model/index.ts'
import { aider } from './aider.ts'
import { amp } from './amp.ts'
import { auggie } from './auggie.ts'
import { claude } from './claude.ts'
import { cline } from './cline.ts'
import { cn } from './cn.ts'
import { code } from './code.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { cursor } from './cursor.ts'
import { droid } from './droid.ts'
import { gemini } from './gemini.ts'
import { generic } from './generic.ts'
import { goose } from './goose.ts'
import { grok } from './grok.ts'
import { kilo } from './kilo.ts'
import { kimi } from './kimi.ts'
import { opencode } from './opencode.ts'
import { pi } from './pi.ts'
import { qwen } from './qwen.ts'

/** Everything we know of agent CLIs. Which process belongs to whom is asked in this order. */
export const HARNESSES: readonly Harness[] = [
  claude,
  codex,
  code,
  gemini,
  qwen,
  opencode,
  kilo,
  copilot,
  pi,
  kimi,
  goose,
  droid,
  cline,
  cn,
  grok,
  amp,
  auggie,
  cursor,
  aider,
  generic,
]

/** Those that can be told to report to us, by name. */
export const HOOKS: Readonly<Record<string, HookRule>> = Object.fromEntries(
  HARNESSES.flatMap(({ name, hooks }) => (hooks === null ? [] : [[name, hooks]])),
)

/** By its name, or else by the name of an executable of its. */
export const harnessNamed = (name: string): Harness | null =>
  HARNESSES.find((harness) => harness.name === name) ?? HARNESSES.find(({ commands }) => commands.includes(name)) ?? null

/** All that harnesses and the user's other tools wrote about their processes, also about dead ones; and of whom there is more than was looked at. */
export function allAnchors(
  env: Environment,
  tools: readonly ToolPidFiles[] = [],
): { readonly anchors: readonly Anchor[]; readonly cut: readonly string[] } {
  const known = HARNESSES.flatMap(({ name, registry }) => (registry === null ? [] : [{ name, anchors: registry.anchors }]))
  const lists = [...known, ...tools].map(({ name, anchors }) => ({ name, ...anchors.list(env) }))
  return { anchors: lists.flatMap(({ anchors }) => anchors), cut: lists.filter(({ whole }) => !whole).map(({ name }) => name) }
}

/** One of them as it is now; null: it is none any more. */
export const anchorNow = ({ harness, path }: Anchor, tools: readonly ToolPidFiles[] = []): Anchor | null =>
  (tools.find(({ name }) => name === harness)?.anchors ?? harnessNamed(harness)?.registry?.anchors)?.read(path) ?? null
