import { join } from 'node:path'
import {
  addHooks,
  findHooks,
  HOOKS,
  hookCommand,
  isHookCommand,
  isHookFile,
  MAX_HOOKS,
  removeHooks,
  type SettingsHook,
  settingsTrouble,
  undoHooks,
} from '../../harness/index.ts'
import { readSettings, removeSettings, type SettingsFile, writeSettings } from '../../keep/index.ts'
import { sha256 } from '../../lib/index.ts'
import { type HookChange, type HookEvent, type HookRule, type HookState, nearest, Problem } from '../../model/index.ts'
import type { World } from '../world/world.ts'
import { type HookRecord, type HookWorld, readHookRecord, removeHookRecord, writeHookRecord } from './hook-receipt.ts'

/** In the order in which they came: what an older Holdfast has put in stays where it is. */
const EVENTS: readonly HookEvent[] = ['session-start', 'before-tool', 'session-end', 'prompt', 'turn-end', 'waiting']
/** How often a file is looked at again that somebody else writes at the same time. */
const MAX_TRIES = 5

/** Has a harness call us, and changes no other byte of its settings. Doing it twice changes nothing. */
export function installHooks(world: HookWorld, harness: string): HookChange {
  const plan = planFor(world, harness)
  return whileOthersWrite(plan, (file) => {
    const text = textOf(plan, file)
    if (plan.isDone(text)) return { ...plan.change, did: 'nothing' }
    const record = readHookRecord(world, harness, plan.path)
    const { text: after, events, steps, made, sha256: sum } = plan.put(text, record)
    const fresh = writeSettings(plan.path, after, file)
    if (fresh === null) return null
    const created = file === null || (record?.created ?? false)
    const folders = [...(record?.folders ?? []), ...fresh]
    writeHookRecord(world, harness, { path: plan.path, sha256: sum, steps, made, created, folders })
    return { ...plan.change, events, did: plan.isThere(text) ? (plan.isOlder(text) ? 'updated' : 'replaced') : 'installed' }
  })
}

/** Takes ours out again, whoever put it in: the very bytes of before if nobody else wrote meanwhile, and otherwise only ours. */
export function uninstallHooks(world: HookWorld, harness: string): HookChange {
  const plan = planFor(world, harness)
  const gone = (did: HookChange['did']): HookChange => {
    removeHookRecord(world, harness)
    return { ...plan.change, did, note: null }
  }
  return whileOthersWrite(plan, (file) => {
    if (file === null) return gone('nothing')
    const text = textOf(plan, file)
    if (!plan.isThere(text)) return gone('nothing')
    const record = readHookRecord(world, harness, plan.path)
    const rest = plan.takeOut(text, record)
    const onlyOurs = plan.rule.kind === 'file' || (record?.created === true && /^\s*(\{\s*\}\s*)?$/.test(rest))
    if (onlyOurs) removeSettings(plan.path, record?.folders ?? [])
    else if (writeSettings(plan.path, rest, file) === null) return null
    return gone('removed')
  })
}

/** Which harnesses call us. */
export function hooksStatus(world: HookWorld): HookState[] {
  return Object.keys(HOOKS).map((harness) => {
    const plan = planFor(world, harness)
    const state = { harness, path: plan.path, trouble: null, note: plan.change.note, trusted: null }
    try {
      const text = textOf(plan, read(plan.path))
      if (!plan.isThere(text)) return { ...state, state: 'absent' }
      const trusted = plan.rule.trusts?.(world.env, plan.path, plan.change.events) ?? null
      return { ...state, trusted, state: plan.isDone(text) ? 'installed' : plan.isOlder(text) ? 'outdated' : 'other' }
    } catch (error) {
      if (error instanceof Problem) return { ...state, state: 'unreadable', trouble: error.message }
      throw error
    }
  })
}

/** Does the harness of a run call us, as far as is known which that is? */
export function hasHooks(world: HookWorld & Pick<World, 'agentState'>, run: string): boolean {
  const harness = world.agentState.natives(run).at(-1)?.harness
  return hooksStatus(world).some((one) => one.harness === harness && (one.state === 'installed' || one.state === 'outdated'))
}

/** `events`: those that it has hooks for which it had not before. */
type Put = Pick<HookRecord, 'steps' | 'made' | 'sha256'> & { readonly text: string; readonly events: readonly string[] }
type Plan = {
  readonly rule: HookRule
  readonly path: string
  readonly change: Omit<HookChange, 'did'>
  readonly trouble: (text: string) => string | null
  readonly isThere: (text: string) => boolean
  readonly isDone: (text: string) => boolean
  /** They are of this very Holdfast, but from before it had all of them. */
  readonly isOlder: (text: string) => boolean
  readonly put: (text: string, record: HookRecord | null) => Put
  readonly takeOut: (text: string, record: HookRecord | null) => string
}

/** Before any of them is changed. */
export function refuseWithoutHooks(harnesses: readonly string[]): void {
  for (const harness of harnesses) ruleOf(harness)
}

function ruleOf(harness: string): HookRule {
  const rule = Object.hasOwn(HOOKS, harness) ? HOOKS[harness] : undefined
  if (rule !== undefined) return rule
  const near = nearest(harness, Object.keys(HOOKS))
  throw new Problem('hooks-unsupported', `${JSON.stringify(harness)} has no hooks that Holdfast knows`, {
    hint: `${near === null ? '' : `did you mean ${near}? `}those that have: ${Object.keys(HOOKS).join(', ')}`,
  })
}

function planFor(world: HookWorld, harness: string): Plan {
  const rule = ruleOf(harness)
  const path = rule.path(world.env)
  const command = (event: HookEvent): string => hookCommand(join(world.assets, 'hook.sh'), harness, event)
  return rule.kind === 'settings' ? settingsPlan(harness, rule, path, command) : filePlan(harness, rule, path, command)
}

function settingsPlan(harness: string, rule: HookRule & { kind: 'settings' }, path: string, command: (event: HookEvent) => string): Plan {
  const wanted = EVENTS.flatMap((event): SettingsHook[] => {
    const called = rule.events[event]
    if (called === null) return []
    return [{ ...(typeof called === 'string' ? { event: called } : called), command: command(event) }]
  })
  const events = wanted.map(({ event }) => event)
  const found = (text: string): string[] => findHooks(text, isHookCommand).map(wordsOf)
  const missing = (text: string): SettingsHook[] => {
    const there = found(text)
    return wanted.filter((hook) => !there.includes(wordsOf(hook)))
  }
  const hasOthers = (text: string): boolean => found(text).length > wanted.length - missing(text).length
  const isThere = (text: string): boolean => found(text).length > 0
  const isOlder = (text: string): boolean => isThere(text) && !hasOthers(text) && missing(text).length > 0
  const takeOut: Plan['takeOut'] = (text, record) =>
    (record?.sha256 === sha256(text) ? undoHooks(text, record.steps) : null) ?? removeHooks(text, isHookCommand, record?.made ?? null)
  const putAll = (text: string): Put => {
    const added = addHooks(text, wanted)
    return { ...added, sha256: sha256(added.text), events }
  }
  return {
    rule,
    path,
    change: { harness, path, events, note: rule.note },
    trouble: (text) => settingsTrouble(text, events) ?? (found(text).length > MAX_HOOKS ? `it has more than ${MAX_HOOKS} hooks of Holdfast's` : null),
    isThere,
    isDone: (text) => !hasOthers(text) && missing(text).length === 0,
    isOlder,
    put: (text, record) => {
      if (!isOlder(text)) return putAll(isThere(text) ? takeOut(text, record) : text)
      return putMissing(text, missing(text), record, record?.made ?? putAll(takeOut(text, null)).made)
    },
    takeOut,
  }
}

const wordsOf = ({ event, command }: SettingsHook): string => `${event} ${command}`

/** Those that are there keep their place: codex trusts each by that. If somebody else wrote since, the very bytes of before are not known. */
function putMissing(text: string, missing: readonly SettingsHook[], record: HookRecord | null, made: readonly string[]): Put {
  const added = addHooks(text, missing)
  const isOurs = record?.sha256 === sha256(text)
  return {
    text: added.text,
    steps: [...(isOurs ? record.steps : []), ...added.steps],
    made: [...made, ...added.made],
    sha256: isOurs ? sha256(added.text) : '',
    events: missing.map(({ event }) => event),
  }
}

function filePlan(harness: string, rule: HookRule & { kind: 'file' }, path: string, command: (event: HookEvent) => string): Plan {
  const content = rule.content(command)
  return {
    rule,
    path,
    change: { harness, path, events: [], note: rule.note },
    trouble: (text) => (text === '' || isHookFile(text) ? null : 'it is not a file of ours'),
    isThere: isHookFile,
    isDone: (text) => text === content,
    isOlder: (text) => text !== content && text.includes(JSON.stringify(command('before-tool'))),
    put: () => ({ text: content, steps: [], made: [], sha256: sha256(content), events: [] }),
    takeOut: () => '',
  }
}

function textOf(plan: Plan, file: SettingsFile): string {
  const text = file !== null && 'text' in file ? file.text : ''
  const trouble = file !== null && 'trouble' in file ? file.trouble : plan.trouble(text)
  if (trouble !== null)
    throw new Problem('settings-invalid', `${plan.path} was left as it is: ${trouble}`, { hint: 'put it right, or move it away, and say it again' })
  return text
}

/** Null from the body: the file is no longer what was read. */
function whileOthersWrite(plan: Plan, body: (file: SettingsFile) => HookChange | null): HookChange {
  try {
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const change = body(read(plan.path))
      if (change !== null) return change
    }
  } catch (error) {
    if (error instanceof Problem || typeof (error as NodeJS.ErrnoException).code !== 'string') throw error
    throw new Problem('settings-unwritable', `cannot change ${plan.path}: ${(error as NodeJS.ErrnoException).code}`, { cause: error })
  }
  throw new Problem('settings-unwritable', `${plan.path} is being written by somebody else all the time`, { hint: 'say it again' })
}

function read(path: string): SettingsFile {
  try {
    return readSettings(path)
  } catch (error) {
    throw new Problem('settings-unreadable', `cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`, { cause: error })
  }
}
