import { itemOf, type JsonNode, parseJson } from './jsonc.ts'
import { cutHook, type SettingsHook, waysTo } from './settings-cut.ts'
import { type Insertion, insertItem } from './settings-insert.ts'

export type { SettingsHook } from './settings-cut.ts'

/** What was put in, in the order in which it was; and which objects and lists were made for it (`hooks`, `hooks.EVENT`). */
export type Added = { readonly text: string; readonly steps: readonly Insertion[]; readonly made: readonly string[] }

/** Each of them is taken out by itself, and what is left is compared: more than that is not changed. */
export const MAX_HOOKS = 100

/** Is the text an object that hooks can be put into? If not, why. */
export function settingsTrouble(text: string, events: readonly string[]): string | null {
  if (isBlank(text)) return null
  const root = parseJson(bodyOf(text))
  if (root?.kind !== 'object') return 'it is no JSON object'
  const hooks = itemOf(root, 'hooks')?.node
  if (hooks === undefined) return null
  if (hooks.kind !== 'object') return 'its "hooks" is no object'
  const wrong = events.find((event) => (itemOf(hooks, event)?.node.kind ?? 'array') !== 'array')
  return wrong === undefined ? null : `its "hooks"."${wrong}" is no list`
}

/** Puts hooks in, each behind those that are there; every byte that was there stays. */
export function addHooks(before: string, hooks: readonly SettingsHook[]): Added {
  let text = before
  const steps: Insertion[] = []
  const made: string[] = []
  const insert = (path: readonly string[], key: string | null, item: unknown): void => {
    const body = bodyOf(text)
    const done = insertItem(body, containerAt(body, path), key, item)
    const shift = text.length - body.length
    for (const step of done) {
      text = text.slice(0, step.at + shift) + step.text + text.slice(step.at + shift)
      steps.push({ at: step.at + shift, text: step.text })
    }
  }
  if (isBlank(text)) {
    const step = { at: text.length, text: '{}\n' }
    text += step.text
    steps.push(step)
  }
  for (const { event, command, matcher } of hooks) {
    const group = { ...(matcher === undefined ? {} : { matcher }), hooks: [{ type: 'command', command }] }
    if (!has(text, ['hooks'])) {
      insert([], 'hooks', { [event]: [group] })
      made.push('hooks', `hooks.${event}`)
    } else if (!has(text, ['hooks', event])) {
      insert(['hooks'], event, [group])
      made.push(`hooks.${event}`)
    } else insert(['hooks', event], null, group)
  }
  return { text, steps, made }
}

/** Takes back what `addHooks` did to exactly this text; null: it is not the one. */
export function undoHooks(after: string, steps: readonly Insertion[]): string | null {
  let text = after
  for (const { at, text: put } of steps.toReversed()) {
    if (text.slice(at, at + put.length) !== put) return null
    text = text.slice(0, at) + text.slice(at + put.length)
  }
  return text
}

/** Hooks whose command is ours, wherever they stand. */
export const findHooks = (text: string, ours: (command: string) => boolean): SettingsHook[] => waysTo(bodyOf(text), ours).map(({ hook }) => hook)

/** Takes ours out and leaves the rest; what was made for them too, if nothing else is in it. `made` null: nobody remembers what was. */
export function removeHooks(before: string, ours: (command: string) => boolean, made: readonly string[] | null): string {
  const start = before.length - bodyOf(before).length
  let body = before.slice(start)
  for (let round = 0; round <= MAX_HOOKS; round++) {
    const [way] = waysTo(body, ours)
    if (way === undefined) return before.slice(0, start) + body
    body = cutHook(body, way, (path) => made?.includes(path) ?? true)
  }
  throw new Error(`${MAX_HOOKS} hooks of ours were taken out, and there are more`)
}

function containerAt(body: string, path: readonly string[]): JsonNode {
  let node = parseJson(body)
  for (const key of path) node = (node && itemOf(node, key)?.node) ?? null
  if (node === null) throw new Error(`no ${path.join('.')} in the settings`)
  return node
}

const has = (text: string, path: readonly string[]): boolean => {
  let node = parseJson(bodyOf(text)) ?? undefined
  for (const key of path) node = node && itemOf(node, key)?.node
  return node !== undefined
}

const BOM = '\uFEFF'
const bodyOf = (text: string): string => (text.startsWith(BOM) ? text.slice(1) : text)
const isBlank = (text: string): boolean => bodyOf(text).trim() === ''
