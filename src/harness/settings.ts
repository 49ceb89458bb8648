import { itemOf, type JsonItem, type JsonNode, meaning, parseJson, stringOf } from './jsonc.ts'
import { type Insertion, insertItem } from './settings-insert.ts'

/** A hook in a settings file: which event calls which command. */
export type SettingsHook = { readonly event: string; readonly command: string }
/** What was put in, in the order in which it was; and which objects and lists were made for it (`hooks`, `hooks.EVENT`). */
export type Added = { readonly text: string; readonly steps: readonly Insertion[]; readonly made: readonly string[] }

const MAX_HOOKS = 100

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
  for (const { event, command } of hooks) {
    const group = { hooks: [{ type: 'command', command }] }
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
export function findHooks(text: string, ours: (command: string) => boolean): SettingsHook[] {
  return ways(bodyOf(text), ours).map(({ event, command }) => ({ event, command }))
}

/** Takes ours out and leaves the rest; what was made for them too, if nothing else is in it. `made` null: nobody remembers what was. */
export function removeHooks(before: string, ours: (command: string) => boolean, made: readonly string[] | null): string {
  const start = before.length - bodyOf(before).length
  let body = before.slice(start)
  for (let round = 0; round < MAX_HOOKS; round++) {
    const [way] = ways(body, ours)
    if (way === undefined) return before.slice(0, start) + body
    body = cut(body, way.steps, (path) => made?.includes(path) ?? true)
  }
  throw new Error(`more than ${MAX_HOOKS} hooks of ours in one file`)
}

type Step = { readonly parent: JsonNode; readonly item: JsonItem; readonly path: string | null }
type Way = SettingsHook & { readonly steps: readonly Step[] }

/** Each of our hooks with the way down to it: `hooks`, the event, the group, its own `hooks`, the hook. */
function ways(body: string, ours: (command: string) => boolean): Way[] {
  const root = parseJson(body)
  if (root?.kind !== 'object') return []
  const down = (parent: JsonNode, key: string | null, path: string | null): Step[] =>
    parent.items.filter((item) => key === null || item.key === key).map((item) => ({ parent, item, path }))
  return down(root, 'hooks', 'hooks').flatMap((hooks) =>
    down(hooks.item.node, null, null).flatMap(({ parent, item }) => {
      const event = { parent, item, path: `hooks.${item.key}` }
      return down(item.node, null, 'group').flatMap((group) =>
        down(group.item.node, 'hooks', 'group').flatMap((list) =>
          down(list.item.node, null, null).flatMap((hook) => {
            const at = itemOf(hook.item.node, 'command')?.node
            const command = at === undefined ? null : stringOf(body, at)
            return command !== null && ours(command) ? [{ event: item.key ?? '', command, steps: [hooks, event, group, list, hook] }] : []
          }),
        ),
      )
    }),
  )
}

/** Cuts the hook out, or the highest of what is around it that holds nothing else and may go. */
function cut(body: string, steps: readonly Step[], mayGo: (path: string) => boolean): string {
  let depth = steps.length - 1
  while (depth > 0) {
    const { parent } = steps[depth] as Step
    const { path } = steps[depth - 1] as Step
    // A group without hooks means nothing, whatever else it says.
    const alone = path === 'group' ? depth === 3 || parent.items.length === 1 : parent.items.length === 1
    if (!alone || (path !== 'group' && path !== null && !mayGo(path))) break
    depth--
  }
  const { parent, item } = steps[depth] as Step
  const wanted = without(body, steps, depth)
  for (const from of [spaceBefore(body, item.start), item.start]) {
    const text = cutItem(body, parent, item, from)
    const root = parseJson(text)
    if (root !== null && JSON.stringify(meaning(text, root)) === wanted) return text
  }
  throw new Error('a hook of ours could not be taken out without changing anything else')
}

function cutItem(body: string, parent: JsonNode, item: JsonItem, from: number): string {
  const index = parent.items.indexOf(item)
  const alone = parent.items.length === 1
  const comma = item.comma ?? parent.items[index - 1]?.comma ?? null
  const cuts: [number, number][] = [[from, item.node.end]]
  if (comma !== null) cuts.push([comma, comma + 1])
  const inside = body.slice(parent.start + 1, from) + body.slice(item.comma === null ? item.node.end : item.comma + 1, parent.end - 1)
  if (alone && inside.trim() === '') return body.slice(0, parent.start + 1) + body.slice(parent.end - 1)
  let text = body
  for (const [start, end] of cuts.toSorted(([a], [b]) => b - a)) text = text.slice(0, start) + text.slice(end)
  return text
}

/** What the text shall mean once that item is gone. */
function without(body: string, steps: readonly Step[], depth: number): string {
  const gone = (steps[depth] as Step).item
  const strip = (node: JsonNode): JsonNode => ({
    ...node,
    items: node.items.filter((item) => item !== gone).map((item) => ({ ...item, node: strip(item.node) })),
  })
  const root = (steps[0] as Step).parent
  return JSON.stringify(meaning(body, strip(root)))
}

const spaceBefore = (body: string, at: number): number => at - (/[ \t\r\n]*$/.exec(body.slice(0, at))?.[0].length ?? 0)

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
