import { isSpace, itemOf, type JsonItem, type JsonNode, meaning, parseJson, stringOf } from './jsonc.ts'

/** A hook in a settings file: which event calls which command; with `matcher`, only those of that kind. */
export type SettingsHook = { readonly event: string; readonly command: string; readonly matcher?: string }
/** The items on the way down to it: `hooks`, the event, a group of its list, the group's own `hooks`, the hook. */
export type Way = { readonly hook: SettingsHook; readonly steps: readonly Step[] }
type Step = { readonly parent: JsonNode; readonly item: JsonItem }

/** The keys on that way; null: any. */
const KEYS = ['hooks', null, null, 'hooks', null] as const
const [EVENT, GROUP, HOOK] = [1, 2, 4] as const

/** Every hook whose command is ours. */
export function waysTo(body: string, ours: (command: string) => boolean): Way[] {
  const root = parseJson(body)
  if (root === null) return []
  const down = (parent: JsonNode, steps: readonly Step[]): (readonly Step[])[] => {
    const key = KEYS[steps.length]
    if (key === undefined) return [steps]
    return parent.items.filter((item) => key === null || item.key === key).flatMap((item) => down(item.node, [...steps, { parent, item }]))
  }
  return down(root, []).flatMap((steps) => {
    const node = steps[HOOK] && itemOf(steps[HOOK].item.node, 'command')?.node
    const command = node === undefined ? null : stringOf(body, node)
    return command !== null && ours(command) ? [{ hook: { event: steps[EVENT]?.item.key ?? '', command }, steps }] : []
  })
}

/** Cuts a hook out, with the highest of what is around it that holds nothing else and may go. */
export function cutHook(body: string, { hook, steps }: Way, mayGo: (path: string) => boolean): string {
  let depth: number = HOOK
  const alone = (): boolean => steps[depth]?.parent.items.length === 1
  if (alone()) {
    // A group without hooks means nothing, whatever else it says.
    depth = GROUP
    if (alone() && mayGo(`hooks.${hook.event}`)) depth = EVENT
    if (depth === EVENT && alone() && mayGo('hooks')) depth = 0
  }
  const { parent, item } = steps[depth] as Step
  const wanted = meaningWithout(body, (steps[0] as Step).parent, item)
  // The space before it goes too, unless it ends a comment.
  let space = item.start
  while (space > 0 && isSpace(body.charCodeAt(space - 1))) space--
  for (const from of [space, item.start]) {
    const text = cutItem(body, parent, item, from)
    const root = parseJson(text)
    if (root !== null && JSON.stringify(meaning(text, root)) === wanted) return text
  }
  throw new Error(`the hook for ${hook.event} could not be taken out without changing anything else`)
}

function cutItem(body: string, parent: JsonNode, item: JsonItem, from: number): string {
  const before = body.slice(0, from)
  const after = body.slice(item.node.end)
  const inside = body.slice(parent.start + 1, item.start) + body.slice(item.node.end, parent.end - 1)
  if (parent.items.length === 1 && /^\s*,?\s*$/.test(inside)) return body.slice(0, parent.start + 1) + body.slice(parent.end - 1)
  if (item.comma !== null) return before + without(after, item.comma - item.node.end)
  const comma = parent.items[parent.items.indexOf(item) - 1]?.comma ?? null
  return (comma === null ? before : without(before, comma)) + after
}

const without = (text: string, at: number): string => text.slice(0, at) + text.slice(at + 1)

/** What the text shall mean once that item is gone. */
function meaningWithout(body: string, root: JsonNode, gone: JsonItem): string {
  const strip = (node: JsonNode): JsonNode => ({
    ...node,
    items: node.items.filter((item) => item !== gone).map((item) => ({ ...item, node: strip(item.node) })),
  })
  return JSON.stringify(meaning(body, strip(root)))
}
